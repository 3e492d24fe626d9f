package events_test

import (
	"encoding"
	"fmt"
	"slices"
	"testing"

	"github.com/seed2c765205/elect/events"
)

var enumerations = map[string][]string{
	"How":    {"unknown", "free", "expired", "released", "repaired", "reclaimed"},
	"Reason": {"unknown", "expired", "taken", "cleared", "deleted", "stopped", "resigned", "work failed"},
	"Op":     {"unknown", "read", "write", "watch", "release", "work"},
	"Class": {
		"unknown", "decode", "conflict", "not found", "forbidden", "unauthorized", "invalid", "throttled",
		"timeout", "unavailable", "canceled", "duplicate", "draining", "internal",
	},
}

func TestEnumerationsReadBackTheirWords(t *testing.T) {
	checkWords[events.How](t, "How", events.HowReclaimed)
	checkWords[events.Reason](t, "Reason", events.ReasonWorkFailed)
	checkWords[events.Op](t, "Op", events.OpWork)
	checkWords[events.Class](t, "Class", events.ClassInternal)
}

func checkWords[E interface {
	~int
	fmt.Stringer
	encoding.TextMarshaler
}, P interface {
	*E
	encoding.TextUnmarshaler
}](t *testing.T, name string, last E) {
	t.Helper()
	var got []string
	for e := E(0); e <= last; e++ {
		text, err := e.MarshalText()
		if err != nil || string(text) != e.String() {
			t.Errorf("%s(%d) marshals to %q, %v, want %q", name, int(e), text, err, e)
		}
		back := E(-1)
		if err := P(&back).UnmarshalText(text); err != nil || back != e {
			t.Errorf("%q is read as %s(%d), %v, want %d", text, name, int(back), err, int(e))
		}
		got = append(got, e.String())
	}
	if want := enumerations[name]; !slices.Equal(got, want) {
		t.Errorf("%s has the words %q, want %q", name, got, want)
	}
	for _, e := range []E{-1, last + 1} {
		if got, want := e.String(), fmt.Sprintf("unknown(%d)", int(e)); got != want {
			t.Errorf("%s(%d) is %q, want %q", name, int(e), got, want)
		}
		if text, err := e.MarshalText(); string(text) != "unknown" || err != nil {
			t.Errorf("%s(%d) marshals to %q, %v, want unknown", name, int(e), text, err)
		}
	}
}

func TestAWordThatIsNoneIsAnErrorAndChangesNothing(t *testing.T) {
	op := events.OpWrite
	err := op.UnmarshalText([]byte("Write\n"))
	want := `events: Op is "Write\n": want one of unknown, read, write, watch, release, work`
	if err == nil || err.Error() != want {
		t.Errorf("the error is\n%v, want\n%s", err, want)
	}
	if op != events.OpWrite {
		t.Errorf("the value became %v", op)
	}
}
