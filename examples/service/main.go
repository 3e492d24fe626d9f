// Command service is a service of which one instance at a time does the work. The part to copy is in service.go.
//
// Without flags it is a show of ten seconds that needs no cluster: three candidates in one process, on a lock in memory.
// One leader is cut off from the lock, which looks to the others as if it had crashed; the next is stopped gracefully.
//
// With -lease, or inside a Pod, it is one candidate for a Lease:
//
//	service -kubeconfig ~/.kube/config -lease default/service
//
// role.yaml has the rights that it needs, deployment.yaml runs three of it. On SIGTERM it puts its work down, releases the
// Lease and exits with 0, in this order. It exits with 2 if it cannot start as it was told, and with 1 if it ends otherwise.
//
// It prints one line for each event, or with -json the event in JSON, which events.Parse reads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	log := newLog(stdout, o.json)
	if !o.onCluster() {
		err = show(ctx, log)
	} else {
		e, problem := candidate(o)
		if problem != nil {
			fmt.Fprintln(stderr, problem)
			return 2
		}
		err = serve(ctx, e, log.of(e.Status().Identity))
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
