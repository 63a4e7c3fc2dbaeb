// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/google/go-cmp/cmp"
)

func TestCapabilitiesInJSON(t *testing.T) {
	for links := ambit.LinksUnknown; links <= ambit.LinksFollowed; links++ {
		for swap := ambit.SwapNone; swap <= ambit.SwapForeign; swap++ {
			c := ambit.Capabilities{ID: "x", Links: links, Swap: swap, Write: true, MaxFileSize: 7}
			data, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`"Links":"` + links.String() + `"`, `"Swap":"` + swap.String() + `"`} {
				if !strings.Contains(string(data), want) {
					t.Errorf("%s has no %s", data, want)
				}
			}
			var back ambit.Capabilities
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c, back); diff != "" {
				t.Errorf("it came back otherwise (-want +got):\n%s", diff)
			}
		}
	}
	// What a later version may say promises nothing here.
	later := ambit.Capabilities{Links: ambit.LinksFollowed, Swap: ambit.SwapForeign}
	if err := json.Unmarshal([]byte(`{"Links":"teleported","Swap":"absolute"}`), &later); err != nil {
		t.Fatal(err)
	}
	if later != (ambit.Capabilities{}) {
		t.Errorf("%+v", later)
	}
	for _, bad := range []string{`{"Links":3}`, `{"Swap":true}`, `{"Links":["none"]}`} {
		if err := json.Unmarshal([]byte(bad), &later); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
