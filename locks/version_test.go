package locks

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsThatOfTheDependency(t *testing.T) {
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "devel"},
		{&debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "(devel)"}}, "devel"},
		{&debug.BuildInfo{Deps: []*debug.Module{{Path: "x", Version: "v9.9.9"}, {Path: modulePath, Version: "v1.2.3"}}}, "v1.2.3"},
		{&debug.BuildInfo{Deps: []*debug.Module{{Path: modulePath, Version: "(devel)"}}}, "devel"},
	} {
		if got := versionIn(c.info); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.info, got, c.want)
		}
	}
}
