package locks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

// A lock is read, and what was read is what a write replaces: whoever comes second is told so.
func ExampleNewLeaseForConfig() {
	cfg := lockstest.NewServer().Config() // in a cluster: rest.InClusterConfig()
	lock, err := locks.NewLeaseForConfig(cfg, "default", "leader")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	_, err = lock.Read(ctx)
	fmt.Println("nothing is stored:", errors.Is(err, elector.ErrNotFound))

	first, err := lock.Write(ctx, elector.Snapshot{}, elector.Record{Holder: "a", LeaseDuration: 15 * time.Second})
	fmt.Println(lock, "is held by", first.Record.Holder, err)

	_, err = lock.Write(ctx, elector.Snapshot{}, elector.Record{Holder: "b", LeaseDuration: 15 * time.Second})
	fmt.Println("b came second:", errors.Is(err, elector.ErrConflict))
	// Output:
	// nothing is stored: true
	// lease default/leader is held by a <nil>
	// b came second: true
}
