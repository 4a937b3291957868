package workload

import "time"

// stamp parses 2023-11-16 18:17:03.9799600, optionally with T between date and time or a zone at the end, into
// nanoseconds since 1970. Fractions may have any number of digits.
func stamp(text []byte) (time.Duration, Reason) {
	if len(text) < 19 || text[4] != '-' || text[7] != '-' || text[10] != ' ' && text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, NotNumber
	}
	year, a := digits(text[0:4], 1970, 2200)
	month, b := digits(text[5:7], 1, 12)
	day, c := digits(text[8:10], 1, 31)
	hour, d := digits(text[11:13], 0, 23)
	minute, e := digits(text[14:16], 0, 59)
	second, f := digits(text[17:19], 0, 60)
	if !(a && b && c && d && e && f) {
		return 0, NotNumber
	}
	t := time.Duration(((days(year, month, day)*24+hour)*60+minute)*60+second) * time.Second
	fraction, rest := parts(text[19:])
	east, ok := zone(rest)
	if !ok {
		return 0, NotNumber
	}
	return t + fraction - east, ""
}

// parts parses a fraction of a second and returns the rest.
func parts(text []byte) (t time.Duration, rest []byte) {
	if len(text) == 0 || text[0] != '.' {
		return 0, text
	}
	i := 1
	for unit := time.Second / 10; i < len(text) && text[i]-'0' <= 9; i++ {
		t += time.Duration(text[i]-'0') * unit
		unit /= 10
	}
	return t, text[i:]
}

// zone returns a clock's offset east of Greenwich: nothing, Z, +01:00.
func zone(text []byte) (time.Duration, bool) {
	if len(text) == 0 || len(text) == 1 && text[0] == 'Z' {
		return 0, true
	}
	if len(text) != 6 || text[3] != ':' || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	hours, a := digits(text[1:3], 0, 14)
	minutes, b := digits(text[4:6], 0, 59)
	east := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if text[0] == '-' {
		east = -east
	}
	return east, a && b
}

// digits parses digits, within bounds.
func digits(text []byte, low, high int64) (int64, bool) {
	n, read := leading(text)
	return n, read == len(text) && n >= low && n <= high
}

// days returns the days since 1970 of a Gregorian date, counting years from March so that leap days come last.
func days(year, month, day int64) int64 {
	if month < 3 {
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}
