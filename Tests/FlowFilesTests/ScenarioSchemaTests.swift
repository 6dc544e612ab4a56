import FlowFiles
import FlowReview
import Foundation
import Navigation
import SampleFlows
import Support
import TestSupport
import Testing

@Suite("JSON Schema of scenarios")
struct ScenarioSchemaTests {
    private static let flow = Result {
        try Flow(
            yaml: """
                name: x
                version: 1
                platform: ios
                start: a
                screens: { a: {}, b: {} }
                transitions: []
                """, file: "x.yaml")
    }

    /// The reader's findings.
    private func findings(_ yaml: String) throws -> [String] {
        let flow = try Self.flow.get()
        do throws(FlowError) {
            _ = try Scenario(yaml: yaml, file: "story.yaml", flow: flow)
            return []
        } catch {
            return error.findings.map(\.message)
        }
    }

    @Test(
        "The schema accepts the project's scenarios",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func shipped() async throws {
        let texts = try ["config/flows/scenarios", "Examples/Coffee/scenarios"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: Repository.path(folder)).map {
                try String(contentsOfFile: Repository.path("\(folder)/\($0)"), encoding: .utf8)
            }
        }
        #expect(texts.count >= 4)
        for (text, complaints) in try await zip(texts, FlowSchema.scenario.complaints(about: texts)) {
            #expect(complaints.isEmpty, "\(text)")
        }
    }

    private static let good = [
        "[]", "- back", "- back:", "- { back: a, expect: }",
        "- dismiss: a\n- gone: a-1\n- expire\n- { restart: , expect: {} }",
        "- begin: { root: a, path: [b] }\n  includes: { top: b }", "- send: command.A", "- answer: ok\n- tab: t",
        "- send: { type: event.B, data: { x: 1 }, from: a, platform: ios, causedBy: m1, at: 5s }",
        expecting("root: { screen: a, container: tabs, arguments: {} }, path: [a, { screen: b }]"),
        expecting("presented: { screen: a, style: alert, title: T, message: M, path: [b] }, leaving: , dismissed: a"),
        expecting(
            "columns: { c: [a], d: }, tabs: { t: { screen: a } }, tab: t, runs: [f-1], attempt: command.A, queue: []"),
        expecting(
            "parked: 'x://y', commands: [command.A], sent: [command.A, { type: command.B, data: {} }], opened: 'x:'"),
        expecting("discarded: '', failed: [navigation.noSender]"),
    ]

    private static func expecting(_ changes: String) -> String { "- { send: command.A, expect: { \(changes) } }" }

    @Test(
        "The schema accepts what the reader accepts",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func good() async throws {
        for (text, complaints) in try await zip(Self.good, FlowSchema.scenario.complaints(about: Self.good)) {
            #expect(complaints.isEmpty, "\(text)")
            #expect(try findings(text).isEmpty, "\(text)")
        }
    }

    private static let bad = [
        "a: b", "- jump", "- send", "- { send: command.A, back: a }", "- { send: command.A, expect: {}, includes: {} }",
        "- { send: { data: {} } }", "- { send: hello }", "- { send: { type: command.A, sender: a } }",
        "- { expire: 5 }",
        "- { send: command.A, expect: [] }", "- { begin: { roots: a } }", "- { expect: {} }", "- { answer: }",
        expecting("toop: a"), expecting("path: { screen: a, style: sheet }"), expecting("columns: [a]"),
        expecting("sent: { type: hello }"), expecting("presented: { style: sheet }"),
        expecting("root: { screen: a, path: b }"),
    ]

    @Test(
        "The schema refuses what the reader refuses",
        .enabled(if: FlowSchema.hasValidator, "scripts/python, which make test runs, installs the validator"))
    func bad() async throws {
        for (text, complaints) in try await zip(Self.bad, FlowSchema.scenario.complaints(about: Self.bad)) {
            #expect(!complaints.isEmpty, "\(text)")
            #expect(try !findings(text).isEmpty, "\(text)")
        }
    }

    @Test(
        "The schema has the keys of the reader",
        arguments: [
            ("changes", ScenarioSchemaTests.expecting("'?': a")), ("sentMessage", "- { send: { '?': 1 } }"),
            ("expectedScreen", ScenarioSchemaTests.expecting("path: { '?': 1 }")),
            ("expectedRoot", ScenarioSchemaTests.expecting("root: { '?': 1 }")),
            ("expectedPresentation", ScenarioSchemaTests.expecting("presented: { '?': 1 }")),
            ("expectedMessage", ScenarioSchemaTests.expecting("sent: { '?': 1 }")), ("stepWithValue", "- { '?': 1 }"),
        ])
    func keys(name: String, yaml: String) throws {
        let list = try findings(yaml).first { $0.contains("'?'") }?.split(separator: "; known: ").last
        let known = list?.split(separator: ", ").map(String.init) ?? []
        let properties = try FlowSchema.scenario.read().value(at: "$defs.\(name).properties")?.objectValue ?? [:]
        #expect(Set(known) == Set(properties.keys) && !known.isEmpty)
    }
}
