package lockstest_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	os.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "true") // client-go speaks CBOR only if asked to
	goleak.VerifyTestMain(m)
}
