//go:build unix

package controlplane

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tokens are the bearer tokens that the API server knows.
type tokens struct {
	admin string
	users []string
}

// userCount is how many ordinary users there are. The API server reads its users once.
const userCount = 100

func userName(i int) string { return fmt.Sprintf("user-%d", i) }

// writeFiles writes the files that the API server reads at its start.
func writeFiles(dir string) (tokens, error) {
	if err := writeKey(filepath.Join(dir, "sa.key")); err != nil {
		return tokens{}, fmt.Errorf("write the key of the service accounts: %w", err)
	}
	t := tokens{admin: rand.Text()}
	var file strings.Builder
	fmt.Fprintf(&file, "%s,admin,admin,\"system:masters\"\n", t.admin)
	for i := range userCount {
		token := rand.Text()
		t.users = append(t.users, token)
		fmt.Fprintf(&file, "%s,%s,%s\n", token, userName(i), userName(i))
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(file.String()), 0o600); err != nil {
		return tokens{}, fmt.Errorf("write the tokens of the users: %w", err)
	}
	return t, nil
}

func writeKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}

func etcdArgs(dir, client, peer string) []string {
	return []string{
		"--data-dir=" + filepath.Join(dir, "etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--log-level=warn",
		"--unsafe-no-fsync", // the data need not survive the machine
	}
}

func apiServerArgs(dir, etcd string, port int) []string {
	return []string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--advertise-address=127.0.0.1",   // otherwise it looks for a default route
		"--endpoint-reconciler-type=none", // it refuses to publish a loopback address
		"--cert-dir=" + dir,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://localhost",
		"--service-account-key-file=" + filepath.Join(dir, "sa.key"),
		"--service-account-signing-key-file=" + filepath.Join(dir, "sa.key"),
		"--token-auth-file=" + filepath.Join(dir, "tokens.csv"),
		"--authorization-mode=RBAC",
		"--disable-admission-plugins=ServiceAccount",
		"--feature-gates=CoordinatedLeaderElection=true",
		"--runtime-config=coordination.k8s.io/v1beta1=true",
	}
}
