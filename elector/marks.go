package elector

import "crypto/rand"

// marks hands out the values of Record.Mark: a random word of this elector's and a counter, so that no two writes of
// any two electors carry the same one.
type marks struct {
	word  string
	n     uint64
	batch string // marks made ahead, so that a renewal allocates nothing
}

const (
	marksAhead   = 256
	wordWidth    = 13 // of 32 letters: 65 bits
	counterWidth = 12
	markWidth    = wordWidth + 1 + counterWidth
)

func newMarks() marks { return marks{word: rand.Text()[:wordWidth]} }

func (m *marks) next() string {
	if m.batch == "" {
		m.batch = m.makeBatch()
	}
	mark := m.batch[:markWidth]
	m.batch = m.batch[markWidth:]
	return mark
}

func (m *marks) makeBatch() string {
	b := make([]byte, 0, marksAhead*markWidth)
	for range marksAhead {
		m.n++
		b = append(b, m.word...)
		b = append(b, '-')
		b = appendPadded(b, m.n)
	}
	return string(b)
}

// appendPadded appends n with counterWidth digits. fmt would allocate for each mark.
func appendPadded(b []byte, n uint64) []byte {
	var digits [counterWidth]byte
	for i := counterWidth - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, digits[:]...)
}
