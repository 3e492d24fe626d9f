//go:build unix

// Candidate is one process that competes for a Lease, with this library or with client-go's. It prints a line when its
// work begins and one when it ends, with the time of package monotonic, and notes for people:
//
//	begin 7212345678901
//	end 7215345678901
//	note 7215345679000 lost: stopped
//
// SIGTERM makes it stop in the library's graceful way.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/integration/internal/monotonic"
	"github.com/seed2c765205/elect/locks"
)

// Both libraries get the same patience.
const (
	leaseDuration = 2 * time.Second
	renewDeadline = 1200 * time.Millisecond
	retryPeriod   = 200 * time.Millisecond
)

var (
	clientGo   = flag.Bool("client-go", false, "compete with client-go's library")
	release    = flag.Bool("release", true, "client-go's ReleaseOnCancel")
	kubeconfig = flag.String("kubeconfig", "", "the file that tells of the API server")
	namespace  = flag.String("namespace", "default", "the Lease's namespace")
	name       = flag.String("name", "beside", "the Lease's name")
	identity   = flag.String("identity", "", "the candidate's")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	if *clientGo {
		return runClientGo(ctx, config)
	}
	return runElect(ctx, config)
}

func runElect(ctx context.Context, config *rest.Config) error {
	lock, err := locks.NewLeaseForConfig(config, *namespace, *name)
	if err != nil {
		return err
	}
	e, err := elector.New(elector.Config{
		Lock: lock, Identity: *identity,
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
	})
	if err != nil {
		return err
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		for event := range e.Events() {
			if won, ok := event.(events.Acquired); ok {
				won.Term.Go(func(ctx context.Context) error { work(ctx); return nil })
			}
			if _, ok := event.(events.Renewed); !ok {
				say("note", event)
			}
		}
	}()
	err = e.Run(ctx)
	<-told
	return err
}

// runClientGo returns when the term is over, as programs that use client-go's library do.
func runClientGo(ctx context.Context, config *rest.Config) error {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, *namespace, *name,
		resourcelock.ResourceLockConfig{Identity: *identity}, config, renewDeadline)
	if err != nil {
		return err
	}
	started, worked := make(chan struct{}), make(chan struct{})
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		ReleaseOnCancel: *release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { close(started); work(ctx); close(worked) },
			OnStoppedLeading: func() { say("note", "stopped leading") },
		},
	})
	if err != nil {
		return err
	}
	e.Run(ctx)
	select {
	case <-started:
		<-worked
	default: // never elected, or not yet at work
	}
	return nil
}

// work is all that the leader does.
func work(ctx context.Context) {
	say("begin", "")
	<-ctx.Done()
	say("end", "")
}

// say prints one line in one write, so that a killed process leaves no half of one.
func say(what string, text any) {
	_, _ = os.Stdout.WriteString(fmt.Sprintln(what, int64(monotonic.Now()), text))
}
