package elector

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// marks hands out the values of Record.Mark: a random word of this elector's and a counter, so that no two writes of
// any two electors carry the same one.
type marks struct {
	word  string
	n     uint64
	batch string // marks made ahead, so that a renewal allocates nothing
}

const (
	marksAhead = 256
	markWidth  = 13 + 1 + 12 // word, dash, counter
)

func newMarks() marks { return marks{word: rand.Text()[:13]} }

func (m *marks) next() string {
	if m.batch == "" {
		m.batch = m.makeBatch()
	}
	mark := m.batch[:markWidth]
	m.batch = m.batch[markWidth:]
	return mark
}

func (m *marks) makeBatch() string {
	var b strings.Builder
	b.Grow(marksAhead * markWidth)
	for range marksAhead {
		m.n++
		fmt.Fprintf(&b, "%s-%012d", m.word, m.n)
	}
	return b.String()
}
