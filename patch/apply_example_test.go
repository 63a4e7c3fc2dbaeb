// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"context"
	"fmt"

	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

func ExampleApply() {
	fsys := memory.New(map[string]string{
		"greet.py": "def greet():\n    print('Hello')\n\ndef leave():\n    print('Hello')\n",
	}, nil)
	p, err := patch.Parse(`*** Begin Patch
*** Update File: greet.py
@@ def leave():
-    print('Hello')
+    print('Bye')
*** Add File: README.md
+# Greetings
*** End Patch
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := patch.Apply(context.Background(), fsys, p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Files {
		fmt.Println(f.Action, f.Path, f.State, f.Hunks)
	}
	greet, _ := fsys.Peek("greet.py")
	fmt.Print(greet)
	// Output:
	// update /greet.py applied [{3 5}]
	// add /README.md applied []
	// def greet():
	//     print('Hello')
	//
	// def leave():
	//     print('Bye')
}

// A patch that does not fit is refused as a whole.
func ExampleApply_refused() {
	fsys := memory.New(map[string]string{"a.txt": "one\ntwo\none\n"}, nil)
	p, err := patch.Parse(`*** Begin Patch
*** Add File: b.txt
+new
*** Update File: a.txt
@@
-one
+1
@@
-three
+3
*** End Patch
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, _ := patch.Apply(context.Background(), fsys, p, nil)
	for _, problem := range report.Problems {
		fmt.Printf("line %d: %s %v\n", problem.Line, problem.Err.Reason, problem.Err.Lines)
	}
	_, err = fsys.Stat(context.Background(), "b.txt")
	fmt.Println(err)
	// Output:
	// line 5: ambiguous [1 3]
	// line 8: no-match []
	// stat b.txt: not-found
}
