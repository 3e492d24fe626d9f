package locks

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/seed2c765205/elect/elector"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The files under testdata are what other electors write, held and released, each beside what is read from it.

func TestLeasesOfOtherElectorsAreRead(t *testing.T) {
	golden(t, "testdata/lease", func(text string) (elector.Record, error) {
		var spec coordinationv1.LeaseSpec
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			return elector.Record{}, err
		}
		record, _, err := leaseForm{}.decode(&coordinationv1.Lease{Spec: spec})
		return record, err
	})
}

func TestAnnotationsOfOtherElectorsAreRead(t *testing.T) {
	golden(t, "testdata/annotation", decodeAnnotation)
}

func golden(t *testing.T, dir string, decode func(string) (elector.Record, error)) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			record, err := decode(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			sameAsFile(t, strings.TrimSuffix(file, ".json")+".golden", describe(record))
		})
	}
}

func sameAsFile(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%s", file, got, want)
	}
}

func describe(r elector.Record) string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "not said"
		}
		return t.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("holder %q\nlease duration %v\nacquired %s\nrenewed %s\ntransitions %d\n",
		r.Holder, r.LeaseDuration, at(r.AcquireTime), at(r.RenewTime), r.Transitions)
}

// What is written here is what client-go writes, byte for byte.
func TestWhatIsWrittenIsWhatClientGoWrites(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 46, 33, 576975999, time.UTC)
	held := elector.Record{Holder: "go", LeaseDuration: 15 * time.Second, AcquireTime: at, RenewTime: at, Transitions: 3}
	at = at.Add(69 * time.Microsecond)
	released := elector.Record{LeaseDuration: time.Second, AcquireTime: at, RenewTime: at, Transitions: 3}
	for name, r := range map[string]elector.Record{"held": held, "released": released} {
		lease := &coordinationv1.Lease{}
		if err := (leaseForm{}).encode(lease, r); err != nil {
			t.Fatal(err)
		}
		spec, _ := json.Marshal(lease.Spec)
		annotation, err := encodeAnnotation(r)
		if err != nil {
			t.Fatal(err)
		}
		for file, got := range map[string]string{"lease": string(spec), "annotation": annotation} {
			want, err := os.ReadFile("testdata/" + file + "/client-go-" + name + ".json")
			if err != nil || got+"\n" != string(want) {
				t.Errorf("%s, %s: wrote\n%s\nwant\n%s%v", file, name, got, want, err)
			}
		}
	}
}

func TestDurationsInAllForms(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`{"leaseDurationSeconds":15}`:                         15 * time.Second,
		`{"leaseDurationSeconds":"17"}`:                       17 * time.Second,
		`{"leaseDurationSeconds":" 17.5 "}`:                   17500 * time.Millisecond,
		`{"leaseDurationSeconds":0.1}`:                        100 * time.Millisecond,
		`{"leaseDurationSeconds":"soon"}`:                     0,
		`{"leaseDurationSeconds":"nan"}`:                      0,
		`{"leaseDurationSeconds":"inf"}`:                      0,
		`{"leaseDurationSeconds":null}`:                       0,
		`{"leaseDurationSeconds":-5}`:                         -5 * time.Second,
		`{"leaseDurationSeconds":1e300}`:                      1<<63 - 1,
		`{"leaseDurationSeconds":-1e300}`:                     -1 << 63,
		`{"leaseDurationSeconds":15,"leaseDuration":"PT30S"}`: 15 * time.Second,
		`{"leaseDuration":"PT15S"}`:                           15 * time.Second,
		`{"leaseDuration":15}`:                                15 * time.Second,
		`{"leaseDuration":"15"}`:                              15 * time.Second,
		`{"leaseDuration":"PT1M30.5S"}`:                       90500 * time.Millisecond,
		`{"leaseDuration":"pt2h"}`:                            2 * time.Hour,
		`{"leaseDuration":"P1DT1S"}`:                          24*time.Hour + time.Second,
		`{"leaseDuration":"P1W"}`:                             7 * 24 * time.Hour,
		`{"leaseDuration":"-PT15S"}`:                          -15 * time.Second,
		`{"leaseDuration":"P1M"}`:                             0,
		`{"leaseDuration":"PT"}`:                              0,
		`{"leaseDuration":"P"}`:                               0,
		`{}`:                                                  0,
	} {
		if got, err := decodeAnnotation(text); err != nil || got.LeaseDuration != want {
			t.Errorf("%s: %v, %v, want %v", text, got.LeaseDuration, err, want)
		}
	}
}

func TestTimesInAllForms(t *testing.T) {
	noon := time.Date(2026, 8, 17, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`"2026-08-17T12:00:00Z"`:             noon,
		`"2026-08-17T12:00:00.123Z"`:         noon.Add(123 * time.Millisecond),
		`"2026-08-17T12:00:00.123456789Z"`:   noon.Add(123456789),
		`"2026-08-17T14:00:00.5+02:00"`:      noon.Add(500 * time.Millisecond),
		`"2026-08-17 12:00:00.123456"`:       noon.Add(123456 * time.Microsecond),
		`"2026-08-17 12:00:00"`:              noon,
		`"2026-08-17 12:00:00.500000+00:00"`: noon.Add(500 * time.Millisecond),
		`"2026-08-17T12:00:00.5"`:            noon.Add(500 * time.Millisecond),
		`"0001-01-01T00:00:00Z"`:             {},
		`"noon"`:                             {},
		`""`:                                 {},
		`null`:                               {},
	} {
		if got, err := decodeAnnotation(`{"renewTime":` + text + `}`); err != nil || got.RenewTime != want {
			t.Errorf("%s: %v, %v, want %v", text, got.RenewTime, err, want)
		}
	}
}

func TestOddFieldsOfAnAnnotation(t *testing.T) {
	for text, want := range map[string]elector.Record{
		`{"holderIdentity":null,"leaderTransitions":null}`:         {},
		`{"holderIdentity":"a","holderIdentity":"b"}`:              {Holder: "b"},
		`{"HolderIdentity":"a","leaderTransitions":"7"}`:           {Transitions: 7},
		`{"holderIdentity":"b","more":{"x":[1]},"holderKey":true}`: {Holder: "b"},
		` {"leaderTransitions":1e30} `:                             {Transitions: 1<<63 - 1},
		`{"leaderTransitions":-1e30}`:                              {Transitions: -1 << 63},
		`{"leaderTransitions":2.9}`:                                {Transitions: 2},
	} {
		if got, err := decodeAnnotation(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}
