package events_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed2c765205/elect/events"
)

func ExampleParse() {
	text, err := json.Marshal(events.LeaderChanged{
		Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		To:   "pod-1",
	})
	fmt.Println(string(text), err)

	e, err := events.Parse(text)
	fmt.Println(e, err)

	_, err = events.Parse([]byte(`{"kind": "lost", "reason": "bored"}`))
	fmt.Println(err)
	// Output:
	// {"kind":"leaderChanged","time":"2026-03-01T12:00:00Z","from":"","to":"pod-1","transitions":0} <nil>
	// leader changed from nobody to "pod-1" <nil>
	// events: field reason is "bored": want one of unknown, expired, taken, cleared, deleted, stopped, resigned, work failed
}
