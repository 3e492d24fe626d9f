//go:build unix

// Package controlplane runs a real Kubernetes control plane for tests: etcd and kube-apiserver, nothing else. It needs Go
// and the Go module proxy; no container, no download of programs.
//
// The two programs are built from the module in the directory programs, which pins their versions. That takes eight to
// ten minutes on two cores; the result is kept in os.UserCacheDir()/elect-integration and found again until the pinned
// versions or the Go version change. A control plane is ready a few seconds after Start.
//
// The usual way is one control plane for all the tests of a package, each test in a namespace of its own:
//
//	var cluster *controlplane.ControlPlane
//
//	func TestMain(m *testing.M) { controlplane.Main(m, &cluster) }
//
// A control plane that cannot be started is a failure, never a reason to skip.
//
// The programs end with the test process. On Linux the kernel sees to it, also when the test process is killed. On other
// Unix systems they end with Stop, and with Main also after failed tests, but they survive a test process that is
// killed or panics. Windows is not supported.
package controlplane
