package locks

import "github.com/seed2c765205/elect/locks/memory"

// NewMemory returns a lock that lives in the memory of this process, at which nothing is stored: memory.New, for
// programs that import this package anyway.
func NewMemory() *memory.Lock { return memory.New() }
