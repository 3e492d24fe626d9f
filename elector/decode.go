package elector

import (
	"fmt"
	"strings"
)

// DecodeError is an answer or a record that cannot be read: HTML from a proxy, a cut body, another kind of object, an
// annotation that is not JSON. It never ends an election.
type DecodeError struct {
	Source      string // what was read, such as "lease shop/leader" or "annotation … of configmap shop/leader"
	Status      int    // HTTP status of the answer; 0 if there was none or it is not known
	ContentType string // of the answer; "" if not known
	Body        string // the first bytes, printable, at most 512; "" if not known
	Err         error  // the cause
}

// Error names the source, the status and the cause, and quotes the beginning of what was read.
func (e *DecodeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot decode %s", e.Source)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP status %d", e.Status)
		if e.ContentType != "" {
			fmt.Fprintf(&b, ", %s", e.ContentType)
		}
		b.WriteString(")")
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Body != "" {
		fmt.Fprintf(&b, ": %.80q", e.Body)
	}
	return b.String()
}

func (e *DecodeError) Unwrap() error { return e.Err }
