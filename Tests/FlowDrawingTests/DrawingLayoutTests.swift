import Foundation
import Navigation
import Subprocess
import Support
import SystemPackage
import TestSupport
import Testing

@testable import FlowDrawing

@Suite("The layout of a drawing")
struct DrawingLayoutTests {
    @Test("Graphviz lays out all flows of the project")
    func graphviz() async throws {
        for flow in try DrawnFlows.all() {
            let drawing = try FlowDrawing(of: flow)
            let (layout, note) = await DrawingLayout.layout(of: drawing, timeLimit: .seconds(60))
            #expect(note == nil)
            layout.check(drawing)
        }
    }

    @Test("The layout by ranks draws all flows of the project, each time in the same way")
    func ranks() throws {
        for flow in try DrawnFlows.all() {
            let drawing = try FlowDrawing(of: flow)
            let layout = DrawingLayout.byRanks(of: drawing)
            layout.check(drawing)
            #expect(layout == .byRanks(of: drawing))
        }
    }

    @Test("A flow of 200 screens and 600 rules is laid out")
    func large() async throws {
        let drawing = try FlowDrawing(of: DrawnFlows.large(screens: 200, rules: 600))
        #expect(drawing.boxes.count == 200 && drawing.arrows.count == 600)
        DrawingLayout.byRanks(of: drawing).check(drawing)
        // Graphviz may need minutes for such a graph. With a limit there is a layout in any case.
        let (layout, _) = await DrawingLayout.layout(of: drawing, timeLimit: .seconds(1))
        layout.check(drawing)
    }

    @Test("The largest flow has a layout by ranks", .timeLimit(.minutes(1)))
    func largest() throws {
        let drawing = try FlowDrawing(of: DrawnFlows.large(screens: 500, rules: 3_000))
        #expect(DrawingLayout.byRanks(of: drawing).arrows.count == 3_000)
    }

    @Test("No text of the flow gets to Graphviz")
    func hostile() async throws {
        func flow(_ name: String, _ value: String) throws -> Flow {
            try Flow(name, version: 1, platform: "any", start: "a\(name)") {
                Flow.Screen("a\(name)", title: value, sends: ["command.Go"])
                Flow.Screen("b\(name)", title: value)
                Flow.Child(name, start: "b\(name)", transitions: [])
                Flow.Transition(
                    on: "command.Go", where: ["name": .value(.string(value))], do: [.pushFlow(name)])
            }
        }
        let plain = try FlowDrawing(of: flow("x", "Zqzqzq"))
        let hostile = try FlowDrawing(of: flow("quoted", "\">;]}<"))
        #expect(!plain.skeleton.contains("Zq") && !hostile.skeleton.contains("\">;]}<"))
        let lengthOfWords = { (drawing: FlowDrawing) in drawing.arrows.map { $0.words.map(\.count) } }
        #expect(lengthOfWords(plain) == lengthOfWords(hostile))
        #expect(plain.skeleton == hostile.skeleton)
        #expect(try await Graphviz().layout(of: plain) == Graphviz().layout(of: hostile))
    }
}

@Suite("Graphviz that does not work")
struct BrokenGraphvizTests {
    private func note(_ script: String, timeLimit: Duration = .seconds(60)) async throws -> String? {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let path = folder.path("dot")
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        return try await note(.path(FilePath(path)), timeLimit: timeLimit)
    }

    private func note(_ program: Executable, timeLimit: Duration = .seconds(60)) async throws -> String? {
        let drawing = try FlowDrawing(of: DrawnFlows.large(screens: 5, rules: 10))
        let (layout, note) = await DrawingLayout.layout(
            of: drawing, by: Graphviz(program: program), timeLimit: timeLimit)
        #expect(layout == .byRanks(of: drawing))
        #expect(note?.unicodeScalars.allSatisfy { $0.value >= 32 } ?? false)
        return note
    }

    @Test("Without Graphviz, the flow is laid out by ranks, and the note says what to install")
    func missing() async throws {
        #expect(
            try await note(.name("segue-no-such-program"))
                == "Graphviz is not installed: there is no program 'dot'. Install it for a better drawing.")
        #expect(
            try await note(.path("/nonexistent/dot"))
                == "Graphviz is not installed: there is no program 'dot'. Install it for a better drawing.")
    }

    @Test("Graphviz that takes too long is killed", .timeLimit(.minutes(2)))
    func slow() async throws {
        #expect(
            try await note("exec sleep 600", timeLimit: .milliseconds(200))
                == "Graphviz could not lay out the flow within 200ms.")
    }

    @Test("Graphviz that fails is named with its first line, without control characters")
    func failing() async throws {
        #expect(
            try await note("cat >/dev/null; printf 'out of \\033memory\\nmore' >&2; exit 3")
                == "Graphviz could not lay out the flow: out of \\u001bmemory")
        for _ in 0..<20 {
            #expect(try await note("exit 3") == "Graphviz could not lay out the flow: exited(3)")
        }
    }

    @Test(
        "An output that is not the layout is not used",
        arguments: [
            ("garbage", "it is not JSON"), ("[]", "it is not JSON"), ("{}", "a card has no position"),
            (#"{"objects": [{"name": "s0", "pos": "1"}]}"#, "the position of a card is incomplete"),
            (#"{"objects": [{"name": "s0", "pos": "1,nan"}]}"#, "a number in the position of a card is not in bounds"),
            (
                #"{"objects": [{"name": "s0", "pos": "1,1e300"}]}"#,
                "a number in the position of a card is not in bounds"
            ),
        ])
    func garbage(output: String, reason: String) async throws {
        #expect(
            try await note("cat >/dev/null; cat <<'END'\n\(output)\nEND")
                == "Graphviz's layout is not readable: \(reason).")
    }

    @Test("Graphviz that writes too much is stopped", .timeLimit(.minutes(2)))
    func tooMuch() async throws {
        let note = try #require(await note("cat >/dev/null; exec head -c 100000000 /dev/zero"))
        #expect(note.utf8.starts(with: "Graphviz could not lay out the flow: ".utf8))
    }
}
