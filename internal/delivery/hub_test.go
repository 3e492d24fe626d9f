package delivery

import (
	"testing"
	"testing/synctest"

	"github.com/seed2c765205/elect/events"
)

func TestSmoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		h.Publish(events.Acquired{Previous: "x"})
		c := h.Events()
		h.Publish(events.Renewed{})
		h.Publish(events.Renewed{})
		synctest.Wait()
		t.Log(<-c, <-c)
		h.Publish(events.Lost{})
		h.Publish(events.Acquired{Previous: "x"})
		synctest.Wait()
		h.Cut()
		for e := range c {
			t.Logf("%#v", e)
		}
	})
}
