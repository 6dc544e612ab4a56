import Foundation
import Testing

@testable import Support

@Suite("Validation with a JSON Schema")
struct SchemaValidationTests {
    private static let song = JSONSchema.object([
        "title": .init(.string), "seconds": .init(.integer, isRequired: false),
    ])
    private static let schema = JSONSchema.object([
        "playlistID": .init(.string), "count": .init(.integer, isRequired: false),
        "share": .init(.number, isRequired: false), "songs": .init(.array(song), isRequired: false),
        "byName": .init(.map(song), isRequired: false),
        "status": .init(.enumeration(["loading", "ready"]), isRequired: false),
        "cause": .init(.nullable(.string), isRequired: false), "any": .init(.any, isRequired: false),
        "stars": .init(.range(.integer, atLeast: 1, atMost: 5), isRequired: false),
    ])

    @Test(
        "A valid value has no problems",
        arguments: [
            #"{"playlistID":"p"}"#, #"{"playlistID":"p","count":2,"share":1,"any":[{}],"stars":5}"#,
            #"{"playlistID":"p","share":0.5,"songs":[],"byName":{"a":{"title":"t"}}}"#,
            #"{"playlistID":"p","songs":[{"title":"t","seconds":null}],"status":"ready","cause":null}"#,
        ])
    func good(json: String) throws {
        #expect(Self.schema.problems(with: try JSONValue(parsing: .init(json.utf8))) == [])
    }

    @Test(
        "An invalid value is reported with its field and the closest name",
        arguments: [
            (#"{"playlistID":5}"#, ["data.playlistID: expected a string, found a number"]),
            ("{}", ["data.playlistID: missing; expected a string"]),
            (#"{"playlistId":"p"}"#, ["data.playlistId: unknown field; did you mean 'playlistID'?"]),
            (
                #"{"playlistID":null,"count":1.5,"songs":{}}"#,
                [
                    "data.count: expected a whole number, found a number",
                    "data.playlistID: expected a string, found null", "data.songs: expected a list, found an object",
                ]
            ),
            (
                #"{"playlistID":"p","songs":[{"title":"t"},{"title":true}]}"#,
                ["data.songs[1].title: expected a string, found a boolean"]
            ),
            (
                #"{"playlistID":"p","status":"redy"}"#,
                [#"data.status: expected one of "loading", "ready", found "redy"; did you mean "ready"?"#]
            ),
            (
                #"{"playlistID":"p","byName":{"a":{"titel":"t"}}}"#,
                ["data.byName.a.titel: unknown field; did you mean 'title'?"]
            ),
            (
                #"{"playlistID":"p","stars":6}"#, ["data.stars: expected a whole number from 1 to 5, found 6"]
            ),
            ("[]", ["data: expected an object, found a list"]),
        ])
    func bad(json: String, problems: [String]) throws {
        #expect(Self.schema.problems(with: try JSONValue(parsing: .init(json.utf8))).map(\.description) == problems)
    }

    @Test("A field of a message without fields is reported")
    func empty() {
        #expect(
            JSONSchema.object([:]).problems(with: ["a": 1]).map(\.description) == [
                "data.a: unknown field; there are no fields"
            ])
    }

    @Test("A written schema reads back as the same schema")
    func coding() throws {
        #expect(JSONSchema(Self.schema.json) == Self.schema)
        let written = Self.schema.json.description
        #expect(written.contains(#""cause":{"anyOf":[{"type":"string"},{"type":"null"}]}"#))
        #expect(written.contains(#""required":["playlistID"]"#))
        #expect(JSONSchema(["$ref": "#/elsewhere"]) == .any, "what is not understood allows anything")
    }

    struct Reading: Sendable {
        let reader: JSONSchema
        let writer: JSONSchema
        var clashes: [JSONSchema.Clash] = []

        init(
            _ reader: JSONSchema, _ writer: JSONSchema, _ path: String? = nil, _ reason: JSONSchema.Clash.Reason? = nil
        ) {
            self.reader = reader
            self.writer = writer
            if let path, let reason { clashes = [JSONSchema.Clash(path: path, reason: reason)] }
        }
    }

    private static let readings = [
        Reading(.number, .integer), Reading(.any, .boolean), Reading(.string, .enumeration(["a"])),
        Reading(song, song), Reading(.map(.any), song), Reading(.nullable(.string), .string),
        Reading(song, .object(["title": .init(.string), "more": .init(.any)])),
        Reading(.integer, .range(.integer, atLeast: 1)), Reading(.number, .range(.integer, atLeast: 1)),
        Reading(.range(.integer, atLeast: 1, atMost: 9), .range(.integer, atLeast: 1, atMost: 5)),
        Reading(
            .range(.integer, atLeast: 1), .range(.integer, atMost: 5), "data",
            .form(writes: .range(.integer, atMost: 5), reads: .range(.integer, atLeast: 1))),
        Reading(
            .range(.integer, atLeast: 1), .integer, "data",
            .form(writes: .integer, reads: .range(.integer, atLeast: 1))),
        Reading(.integer, .number, "data", .form(writes: .number, reads: .integer)),
        Reading(.string, .any, "data", .form(writes: .any, reads: .string)),
        Reading(.string, .nullable(.string), "data", .null),
        Reading(.enumeration(["a"]), .enumeration(["a", "b"]), "data", .value("b")),
        Reading(.enumeration(["a"]), .string, "data", .form(writes: .string, reads: .enumeration(["a"]))),
        Reading(.array(song), .array(.object([:])), "data[].title", .missing),
        Reading(.map(.string), .map(.integer), "data.*", .form(writes: .integer, reads: .string)),
        Reading(song, .object(["title": .init(.string, isRequired: false)]), "data.title", .optional),
    ]

    @Test("A sender's schema is compatible only if the reader accepts all of its values", arguments: readings)
    func clashes(reading: Reading) {
        #expect(reading.reader.clashes(readingFrom: reading.writer) == reading.clashes)
    }

    @Test("A schema refuses another one only if its type differs, or if it lists or bounds values that are not allowed")
    func refusals() {
        let allowed: [(JSONSchema, JSONSchema)] = [
            (.any, .string), (.string, .any), (.number, .integer), (.string, .nullable(.string)),
            (.nullable(.string), .string), (.enumeration(["a", "b"]), .string),
            (.enumeration(["a", "b"]), .enumeration(["a"])),
            (.range(.integer, atLeast: 1, atMost: 9), .integer), (.integer, .range(.integer, atMost: 5)),
            (.range(.number, atLeast: 1, atMost: 9), .range(.integer, atLeast: 1)), (.array(.any), .array(.string)),
            (Self.song, Self.song), (Self.song, .map(.any)), (.map(.string), .object(requiring: ["a": .string])),
        ]
        for (schema, other) in allowed { #expect(!schema.refuses(other), "\(schema) \(other)") }
        let refused: [(JSONSchema, JSONSchema)] = [
            (.integer, .string), (.string, .integer), (.integer, .number), (.boolean, .string),
            (.string, .array(.string)),
            (.enumeration(["a"]), .enumeration(["a", "b"])), (.enumeration(["a"]), .integer),
            (.range(.integer, atMost: 9), .range(.integer, atMost: 10)), (.range(.integer, atLeast: 1), .number),
            (.array(.string), .array(.integer)), (Self.song, .object([:])),
            (.map(.string), .object(requiring: ["a": .integer])),
        ]
        for (schema, other) in refused { #expect(schema.refuses(other), "\(schema) \(other)") }
    }

    @Test("A string that is a placeholder is compared by its type")
    func placeholders() {
        let value: JSONValue = [
            "playlistID": "?string", "count": "?string", "songs": [["title": "?integer"]], "any": "?",
        ]
        let types: [String: JSONSchema] = ["?string": .string, "?integer": .integer, "?": .any]
        #expect(
            Self.schema.problems(with: value, type: { types[$0] }).map(\.description) == [
                "data.count: expected a whole number, and '?string' is a string",
                "data.songs[0].title: expected a string, and '?integer' is a whole number",
            ])
    }
}
