package locks

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The readers of this file take what other electors mean. What has the right type but no sense reads as zero: missing.

// textField is a field that is a string, or missing, or null.
func textField(fields map[string]any, name string) (string, error) {
	switch v := fields[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", wrongType(name, v)
	}
}

// numberField is a field that is a number, or a number in a string, or missing, or null.
func numberField(fields map[string]any, name string) (float64, error) {
	switch v := fields[name].(type) {
	case nil:
		return 0, nil
	case float64:
		return v, nil
	case string:
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			n = 0
		}
		return n, nil
	default:
		return 0, wrongType(name, v)
	}
}

// saturate is the nearest integer towards zero that there is.
func saturate(n float64) int64 {
	switch {
	case n >= math.MaxInt64:
		return math.MaxInt64
	case n <= math.MinInt64:
		return math.MinInt64
	}
	return int64(n)
}

// inSeconds keeps whole seconds exact; a fraction is kept to the microsecond.
func inSeconds(n float64) time.Duration {
	whole, fraction := math.Modf(n)
	if math.Abs(whole) >= math.MaxInt64/float64(time.Second) {
		return time.Duration(saturate(n * float64(time.Second)))
	}
	return time.Duration(whole)*time.Second + time.Duration(math.Round(fraction*1e6))*time.Microsecond
}

var iso8601 = regexp.MustCompile(`^([-+]?)P(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12}(?:\.\d{1,9})?)S)?)?$`)

// isoDuration reads what java.time.Duration and its like print, such as PT1M30S. Months and years have no length.
func isoDuration(text string) (time.Duration, bool) {
	parts := iso8601.FindStringSubmatch(strings.ToUpper(text))
	if parts == nil {
		return 0, false
	}
	var seconds float64
	for i, length := range []float64{7 * 86400, 86400, 3600, 60, 1} {
		if n, err := strconv.ParseFloat(parts[i+2], 64); err == nil {
			seconds += n * length
		}
	}
	if parts[1] == "-" {
		seconds = -seconds
	}
	return inSeconds(seconds), true
}

// timeForms are those that electors write; each also takes a fraction of any length.
var timeForms = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00"}

// anyTime reads an instant; one without a zone is taken for UTC, since nobody knows whose local time it is.
func anyTime(text string) time.Time {
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
