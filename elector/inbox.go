package elector

import (
	"sync"

	"github.com/seed2c765205/elect/events"
)

// mail is what others have told the loop since it last looked.
type mail struct {
	stop    bool
	resigns []chan<- error
	ended   []workEnd
	wound   bool  // the last hold of a term that is over was dropped
	lapsed  *term // a term whose trust was seen to run out
}

type workEnd struct {
	term   *term
	reason events.Reason
	err    error
}

// inbox takes mail for the loop. Posting never blocks.
type inbox struct {
	mu   sync.Mutex
	open bool // the loop runs
	mail mail
	wake chan struct{}
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// post lets write add to the mail, and wakes the loop. It reports false if no loop runs.
func (b *inbox) post(write func(*mail)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return false
	}
	write(&b.mail)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// take empties the inbox.
func (b *inbox) take() mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mail
	b.mail = mail{}
	return m
}

func (b *inbox) setOpen(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = open
}
