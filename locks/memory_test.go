package locks_test

import (
	"testing"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
	"github.com/seed2c765205/elect/locks/memory"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	t.Run("whole", func(t *testing.T) { lockstest.ExerciseBackend(t, memoryBackend) })
	t.Run("one handle", func(t *testing.T) {
		lockstest.Exercise(t, func(*testing.T) elector.Lock { return locks.NewMemory() })
	})
}

func memoryBackend(*testing.T) lockstest.Backend {
	l := memory.New()
	return lockstest.Backend{
		Lock:   l,
		Delete: func() { l.Delete() },
		Corruptions: map[string]func(){
			"no JSON": func() { l.Corrupt("{") },
			"nothing": func() { l.Corrupt("") },
		},
	}
}
