// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/ambitfs/ambit/charset"
)

// A file in UTF-16 is edited as text, and keeps its encoding and its byte order
// mark.
func Example() {
	raw := []byte("\xff\xfeh\x00i\x00\r\x00\n\x00")
	document, err := charset.Decode(raw, charset.Encoding{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %q\n", document.Encoding(), document.Text())

	edited, err := document.Encode(bytes.Replace(document.Text(), []byte("hi"), []byte("ho"), 1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", edited)
	// Output:
	// utf-16le: "hi\r\n"
	// "\xff\xfeh\x00o\x00\r\x00\n\x00"
}

// Nothing is written that the encoding does not have.
func ExampleEncodeText() {
	latin1, err := charset.Lookup("latin1")
	if err != nil {
		log.Fatal(err)
	}
	raw, err := charset.EncodeText([]byte("Straße\n"), latin1)
	fmt.Printf("%q %v\n", raw, err)
	_, err = charset.EncodeText([]byte("costs:\n5 €\n"), latin1)
	fmt.Println(err)
	// Output:
	// "Stra\xdfe\n" <nil>
	// not-text: U+20AC '€' on line 2 of the text cannot be written in iso-8859-1
}

func ExampleNewReader() {
	text, err := io.ReadAll(charset.NewReader(strings.NewReader("\xfe\xff\x4e\x2d\x65\x87"), charset.Encoding{}))
	fmt.Printf("%s %v\n", text, err)
	// Output: 中文 <nil>
}

func ExampleClassify() {
	for _, head := range []string{"{\"a\": 1}\n", "Stra\xdfe\n", "%PDF-1.7\n"} {
		class := charset.Classify([]byte(head), true)
		fmt.Printf("%t %q %s\n", class.Text, class.Encoding, class.MediaType)
	}
	// Output:
	// true "utf-8" application/json
	// true "" text/plain
	// false "" application/pdf
}
