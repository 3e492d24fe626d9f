//go:build unix

// Command controlplane starts a Kubernetes control plane on the loopback interface, writes a kubeconfig for it, and ends
// it when it is interrupted. With -build it only builds the programs, so that later tests need not wait for that.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/seed2c765205/elect/integration/controlplane"
)

func main() {
	buildOnly := flag.Bool("build", false, "only build the programs")
	kubeconfig := flag.String("kubeconfig", filepath.Join(os.TempDir(), "elect.kubeconfig"), "the `file` to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *buildOnly, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, buildOnly bool, kubeconfig string) error {
	if buildOnly {
		dir, err := controlplane.Build(ctx)
		if err == nil {
			fmt.Println("the programs are in", dir)
		}
		return err
	}
	c, err := controlplane.Start(ctx)
	if err != nil {
		return err
	}
	if err := controlplane.WriteKubeconfig(kubeconfig, c.Config()); err != nil {
		_ = c.Stop()
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", kubeconfig)
	<-ctx.Done()
	return c.Stop()
}
