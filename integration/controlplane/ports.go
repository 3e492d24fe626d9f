//go:build unix

package controlplane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// freePorts returns ports on which nothing listens. They lie below those that systems give to outgoing connections, so
// that a server which is restarted finds its port free.
func freePorts(n int) ([]int, error) {
	const from, to, tries = 20000, 32000, 1000
	var ports []int
	for range tries {
		port := from + rand.IntN(to-from)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer l.Close() //nolint:errcheck // nothing was accepted
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free ports on 127.0.0.1 from 20000 to 32000")
}
