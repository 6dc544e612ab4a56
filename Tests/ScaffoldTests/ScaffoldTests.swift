import FlowFiles
import Foundation
import TestSupport
import Testing

@testable import Scaffold

/// Tests of the files that `segue new` creates, and of the steps that it prints.
@Suite("New files in a package")
struct ScaffoldTests {
    private func message(_ words: String...) throws -> MessageTemplate { try MessageTemplate(MessageShape(words)) }

    private func service(on received: [String], sends sent: [String]) throws -> ServiceTemplate {
        try ServiceTemplate("worker", receives: MessageShape(received), sends: MessageShape(sent))
    }

    @Test("A message has its own file in the folder of messages, and a test if the module has tests")
    func layout() throws {
        try ScratchPackage.with { package in
            #expect(package.vocabulary == "Sources/App/Vocabulary")
            #expect(package.module == "App")
            let scaffold = try message("event.Done").scaffold(in: package)
            let file = "Sources/App/Vocabulary/DomainEvent+Done.swift"
            #expect(scaffold.files.keys.sorted() == [file, "Tests/AppTests/DoneTests.swift"])
            #expect(scaffold.steps.isEmpty)

            try FileManager.default.removeItem(atPath: "\(package.root)/Tests")
            let untested = try message("event.Done").scaffold(in: package)
            #expect(untested.files.keys.sorted() == [file])
            #expect(untested.steps.map(\.title) == ["No test was written: there is no folder Tests/AppTests"])
        }
    }

    @Test("An existing file is not overwritten, and then no other file is written")
    func existing() throws {
        try ScratchPackage.with { package in
            try message("event.Done").scaffold(in: package).write(to: package.root)
            let again = #expect(throws: ScaffoldError.self) {
                try message("event.Done", "x:Int").scaffold(in: package).write(to: package.root)
            }
            #expect(again?.message == "Sources/App/Vocabulary/DomainEvent+Done.swift exists already")
            let other = try message("event.Begun").scaffold(in: package)
            try "".write(toFile: "\(package.root)/Tests/AppTests/BegunTests.swift", atomically: true, encoding: .utf8)
            #expect(throws: ScaffoldError.self) { try other.write(to: package.root) }
            #expect(throws: ScaffoldError.self, "a dry run says so, too") { try other.check(in: package.root) }
            #expect(package.text(of: "Sources/App/Vocabulary/DomainEvent+Done.swift")?.contains("x: Int") == false)
            #expect(!package.exists("Sources/App/Vocabulary/DomainEvent+Begun.swift"))
        }
    }

    @Test("Imports have access levels where the package requires them, and a date imports Foundation")
    func imports() throws {
        try ScratchPackage.with { package in
            let file = "Sources/App/Vocabulary/DomainEvent+Done.swift"
            let plain = try message("event.Done", "at:Date?").scaffold(in: package)
            #expect(plain.files[file]?.hasPrefix("import Contracts\nimport EventBus\nimport Foundation\n\n") == true)
            try #"[.enableUpcomingFeature("InternalImportsByDefault")]"#.write(
                toFile: "\(package.root)/Package.swift", atomically: true, encoding: .utf8)
            let strict = try PackageLayout(around: package.root)
            let explicit = try message("event.Done", "at:Date").scaffold(in: strict)
            let imports = "package import Contracts\ninternal import EventBus\npackage import Foundation\n\n"
            #expect(explicit.files[file]?.hasPrefix(imports) == true)
            let service = try service(on: ["command.Do", "at:Date"], sends: ["event.Done", "at:Date"])
                .scaffold(in: strict, compose: nil).files["Sources/App/Worker.swift"]
            let line = "DomainEvent.Done(at: Date(timeIntervalSince1970: 0))"
            #expect(service?.contains("\ninternal import Foundation\n") == true && service?.contains(line) == true)
        }
    }

    @Test("A service has examples of its messages, and prints the lines for the package and the stack")
    func service() throws {
        try ScratchPackage.with { package in
            try message("event.Done").scaffold(in: package).write(to: package.root)
            let scaffold = try service(on: ["command.Do", "x:Int", "y:[String]?"], sends: ["event.Done"])
                .scaffold(in: package, compose: "compose.yaml")
            #expect(scaffold.files["Sources/App/Worker.swift"]?.contains("        DomainEvent.Done()\n") == true)
            #expect(scaffold.files["Tests/AppTests/WorkerTests.swift"]?.contains("Command.Do(x: 1)\n") == true)
            #expect(
                scaffold.steps.map(\.title) == [
                    "Unless command.Do is declared, run", "Add to Package.swift, in 'targets'",
                    "Add to Package.swift, in 'dependencies' of the test target, what it does not have yet",
                    "Add to compose.yaml, in 'services'",
                ])
            #expect(scaffold.steps[0].text == "segue new message command.Do x:Int 'y:[String]?'")
            let target = "        .executableTarget(\n            name: \"worker\","
            #expect(scaffold.steps[1].text?.hasPrefix(target) == true)
            #expect(scaffold.steps[3].text?.hasPrefix("  worker:\n    command: worker\n") == true)

            try scaffold.write(to: package.root)
            let error = #expect(throws: ScaffoldError.self) {
                try service(on: ["command.Do"], sends: ["event.Done"]).scaffold(in: package, compose: nil)
            }
            #expect(error?.message == "Sources/worker exists already")
        }
    }

    @Test("Lines are short and imports sorted with any number of fields")
    func manyFields() throws {
        try ScratchPackage.with { package in
            for count in [0, 3, 4, 5, 12] {
                let words = (0..<count).map { "fieldWithALongName\($0 + 10):String" }
                let query = try MessageTemplate(
                    MessageShape(["query.Everything"] + words), answer: Field.list(words)
                ).scaffold(in: package)
                let service = try service(on: ["event.Begun"] + words, sends: ["event.Done"] + words)
                    .scaffold(in: package, compose: nil)
                for (path, text) in query.files.merging(service.files, uniquingKeysWith: { first, _ in first }) {
                    let lines = text.split(separator: "\n")
                    let longest = lines.map(\.count).max() ?? 0
                    #expect(longest <= 100, "\(path)")
                    let statements = lines.filter { $0.hasPrefix("import") }
                    #expect(statements == statements.sorted(), "\(path)")
                }
                let test = try #require(query.files["Tests/AppTests/EverythingTests.swift"])
                let json = try #require(test.firstMatch(of: #/let json = #"+\s*({[^}]*})\s*"+#/#)?.1)
                let members = words.map { "\"\($0.dropLast(7))\":\"some\"" }.joined(separator: ",")
                #expect(json.replacing(#/\\#\n +/#, with: "") == "{\(members)}", "\(test)")
            }
        }
    }

    @Test(
        "A message of the platform is not created again",
        arguments: [
            "document.NavigationState", "document.Presence", "document.ServiceContract", "event.MessageDiscarded",
            "command.DataDispatched",
        ])
    func ofPlatform(type: String) throws {
        let error = #expect(throws: ScaffoldError.self) { try message(type) }
        #expect(error?.message == "\(type) is one of Segue's own messages")
        _ = try message("query.Presence")
    }

    @Test("A screen has a test for each flow, and prints the lines for the flows")
    func screen() throws {
        try ScratchPackage.with { package in
            let flow = """
                name: a
                version: 1
                platform: ios
                start: b
                screens:
                  b: { title: B, sends: [command.A] }
                transitions:
                  - on: event.D
                    do: [pop]

                """
            try flow.write(toFile: "\(package.root)/flow.yaml", atomically: true, encoding: .utf8)
            let item = try ScreenTemplate(
                "c", on: MessageShape(["command.CWanted", "id:String", "count:Int", "by:String?"]))
            let opening = try item.scaffold(in: package, flows: package.flows)
            let rule = #"    do: [{ push: { screen: c, arguments: { id: "${data.id}" } } }]"#
            #expect(opening.steps.last?.text?.contains(rule) == true)
            #expect(opening.files.values.first?.contains(#"data: ["id": "some"])"#) == true)
            #expect(opening.steps.first?.text == "segue new message command.CWanted id:String count:Int 'by:String?'")
            #expect(
                opening.steps.dropFirst().first.map { "\($0.title):\n\($0.text ?? "")" }
                    == """
                    Unless a service receives command.CWanted, add to flow.yaml:
                    commands:
                      command.CWanted: { id: string, count: integer, by?: string }
                    """)
            try flow.replacing("screens:", with: "commands: { command.B: {} }\nscreens:").write(
                toFile: "\(package.root)/declared.yaml", atomically: true, encoding: .utf8)
            for (fields, entry) in [
                ([], "{}"), (["tags:[Bool]", "all:[[Int]]"], "{ tags: [boolean], all: array }"),
                (["at:Date", "half:Double"], "{ at: string, half: number }"),
            ] {
                let screen = try ScreenTemplate("c", on: MessageShape(["command.CWanted"] + fields))
                let step = try screen.scaffold(in: package, flows: ["declared.yaml"]).steps[1]
                #expect(step.title == "Unless a service receives command.CWanted, add to declared.yaml, in 'commands'")
                #expect(step.text == "  command.CWanted: \(entry)")
            }
            let known = try ScreenTemplate("c", on: MessageShape(["command.B"]))
            let steps = try known.scaffold(in: package, flows: ["declared.yaml"]).steps
            #expect(!steps.contains { $0.title.hasPrefix("Unless a service") }, "the flow declares the command")

            let screen = try ScreenTemplate("c", on: MessageShape(["command.DataDispatched"]))
            let scaffold = try screen.scaffold(in: package, flows: package.flows)
            #expect(scaffold.files.keys.sorted() == ["Tests/AppTests/CScreenTests.swift"])
            #expect(
                scaffold.steps.map { "\($0.title):\n\($0.text ?? "")" } == [
                    """
                    In flow.yaml, replace 'sends' of the screen 'b' by:
                        sends: [command.A, command.DataDispatched]
                    """,
                    """
                    Add to flow.yaml, in 'screens':
                      c:
                        title: C
                    """,
                    """
                    Add to flow.yaml, in 'transitions':
                      - on: command.DataDispatched
                        when: { top: b }
                        do: [{ push: c }]
                    """,
                ])

            // The same screen in the flow of a second platform has a test of its own.
            try scaffold.write(to: package.root)
            try flow.replacing("platform: ios", with: "platform: mac-os").write(
                toFile: "\(package.root)/mac.yaml", atomically: true, encoding: .utf8)
            let onMac = try ScreenTemplate("c", on: MessageShape(["command.A"]))
            let second = try onMac.scaffold(in: package, flows: ["mac.yaml"])
            let path = "Tests/AppTests/CScreenMacOsTests.swift"
            #expect(second.files.keys.sorted() == [path])
            #expect(second.files[path]?.contains("struct CScreenMacOsTests {") == true)
            #expect(second.steps.map(\.title).first == "Unless command.A is declared, run")
            #expect(!second.steps.contains { $0.title.contains("'sends'") }, "the screen sends the command already")

            for (name, origin) in [("b", nil), ("d", "none")] {
                let wrong = try ScreenTemplate(name, on: MessageShape(["command.A"]), from: origin)
                #expect(throws: ScaffoldError.self) { try wrong.scaffold(in: package, flows: ["flow.yaml"]) }
            }
        }
    }

    @Test("An option is requested if no package or no folder of messages is found")
    func unknownPlaces() throws {
        #expect(throws: ScaffoldError.self) { try PackageLayout(around: "/") }
        try ScratchPackage.with { package in
            try FileManager.default.removeItem(atPath: "\(package.root)/Sources/App/Vocabulary")
            let error = #expect(throws: ScaffoldError.self) { try PackageLayout(around: package.root) }
            #expect(error?.recovery.contains("--in") == true)
            #expect(try PackageLayout(around: package.root, vocabulary: "Sources/App/Messages").module == "App")
            let unknown = #expect(throws: ScaffoldError.self) {
                try PackageLayout(around: package.root, vocabulary: "Messages")
            }
            #expect(unknown?.recovery.contains("--module") == true)
            let named = try PackageLayout(around: package.root, vocabulary: "Messages", module: "M")
            #expect(named.tests == "Tests/MTests")
            for folder in ["/tmp", "..", "../neighbour-of-this/Sources/App"] {
                let error = #expect(throws: ScaffoldError.self) {
                    try PackageLayout(around: package.root, vocabulary: folder)
                }
                #expect(error?.message.hasSuffix("is not in the package \(package.root)") == true)
            }
        }
    }
}

/// A temporary package with a folder of messages, which is empty, and a folder of tests.
enum ScratchPackage {
    static func with(_ body: (PackageLayout) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let root = scratch.path
        for folder in ["Sources/App/Vocabulary", "Tests/AppTests"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
        }
        try "".write(toFile: "\(root)/Package.swift", atomically: true, encoding: .utf8)
        try body(PackageLayout(around: "\(root)/Sources/App"))
    }
}
