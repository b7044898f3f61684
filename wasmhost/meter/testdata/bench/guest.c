// Work of the kinds that policies do, for the meter's benchmarks: each export does n rounds and returns a checksum.
typedef unsigned char u8;
typedef unsigned int u32;

#define EXPORT(name) __attribute__((export_name(name)))

static u8 text[1 << 16];

// fill writes a JSON text of nested objects with strings and numbers.
static u32 fill(void) {
	static const char item[] = "{\"name\":\"rm -rf \\\"/tmp/x\\\"\",\"args\":[1,22,333,-4.5e6,true,null],\"deep\":{\"a\":{\"b\":{\"c\":\"value\"}}}},";
	u32 n = 0;
	text[n++] = '[';
	while (n + sizeof item < sizeof text) {
		for (u32 i = 0; i + 1 < sizeof item; i++) text[n++] = (u8)item[i];
	}
	text[n - 1] = ']';
	return n;
}

struct scanner {
	const u8 *at, *end;
	u32 strings, numbers, sum;
};

static void skip(struct scanner *s) {
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')) s->at++;
}

static void string(struct scanner *s) {
	s->strings++;
	for (s->at++; s->at < s->end && *s->at != '"'; s->at++) {
		if (*s->at == '\\') s->at++;
		s->sum = s->sum * 31 + *s->at;
	}
	s->at++;
}

static void value(struct scanner *s) {
	skip(s);
	switch (*s->at) {
	case '{':
		for (s->at++; s->at < s->end && *s->at != '}';) {
			string(s);
			skip(s);
			s->at++;
			value(s);
			skip(s);
			if (*s->at == ',') s->at++;
			skip(s);
		}
		s->at++;
		return;
	case '[':
		for (s->at++; s->at < s->end && *s->at != ']';) {
			value(s);
			skip(s);
			if (*s->at == ',') s->at++;
		}
		s->at++;
		return;
	case '"':
		string(s);
		return;
	default:
		s->numbers++;
		while (s->at < s->end && *s->at != ',' && *s->at != ']' && *s->at != '}') s->sum += *s->at++;
	}
}

EXPORT("json") u32 json(u32 n) {
	u32 sum = 0, length = fill();
	for (u32 i = 0; i < n; i++) {
		struct scanner s = {text, text + length, 0, 0, 0};
		value(&s);
		sum += s.sum + s.strings + s.numbers;
	}
	return sum;
}

EXPORT("scan") u32 scan(u32 n) {
	u32 found = 0, length = fill();
	for (u32 i = 0; i < n; i++) {
		for (u32 j = 0; j + 6 < length; j++) {
			if (text[j] == 'r' && text[j + 1] == 'm' && text[j + 2] == ' ' && text[j + 3] == '-' && text[j + 4] == 'r') found++;
		}
	}
	return found;
}

static __attribute__((noinline)) u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

EXPORT("fib") u32 fib(u32 n) {
	u32 sum = 0;
	for (u32 i = 0; i < n; i++) sum += fibonacci(20 + (i & 1));
	return sum;
}

EXPORT("hash") u32 hash(u32 n) {
	u32 length = fill(), h = 2166136261u;
	for (u32 i = 0; i < n; i++) {
		for (u32 j = 0; j < length; j++) h = (h ^ text[j]) * 16777619u;
	}
	return h;
}

static int numbers[4096];

static void sort(int *a, int n) {
	while (n > 1) {
		int pivot = a[n / 2], i = 0, j = n - 1;
		while (i <= j) {
			while (a[i] < pivot) i++;
			while (a[j] > pivot) j--;
			if (i <= j) {
				int t = a[i];
				a[i++] = a[j];
				a[j--] = t;
			}
		}
		if (j + 1 < n - i) {
			sort(a, j + 1);
			a += i;
			n -= i;
		} else {
			sort(a + i, n - i);
			n = j + 1;
		}
	}
}

EXPORT("sort") u32 sorted(u32 n) {
	u32 seed = 1, sum = 0;
	for (u32 i = 0; i < n; i++) {
		for (int j = 0; j < 4096; j++) {
			seed = seed * 1664525 + 1013904223;
			numbers[j] = (int)(seed >> 8);
		}
		sort(numbers, 4096);
		sum += (u32)numbers[7];
	}
	return sum;
}
