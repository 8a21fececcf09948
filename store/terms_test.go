package store

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                      "",
		" ?! ":                  "",
		"Ana's cat, 3 years":    "Ana s cat 3 years",
		"猫":                     "猫",
		"猫が好き":                  "猫が が好 好き き",
		"コーヒー":                  "コーヒー ヒー",
		"GPT4は強い":               "GPT4 は強 強い い",
		"생일은":                   "생일 일은 은",
		"ดื่ม":                  "ดื่ม ม",
		"चाय पसंद":              "चाय पसंद",
		"e\u0301te\u0301":       "e\u0301te\u0301",
		"<@123> https://a.b/c":  "123 https a b c",
		"日本 2026年3月":            "日本 本 2026 年 3 月",
		"\u0301 a mark alone":   "a mark alone",
		"new\nline\ttab\u00a0x": "new line tab x",
	} {
		if diff := cmp.Diff(want, strings.Join(Terms(text), " ")); diff != "" {
			t.Errorf("Terms(%q) (-want +got):\n%s", text, diff)
		}
	}
}
