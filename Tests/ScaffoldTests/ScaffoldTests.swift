import FlowFiles
import Foundation
import TestSupport
import Testing

@testable import Scaffold

/// Tests of the files that `segue new` changes and creates.
@Suite("Something new in a package")
struct ScaffoldTests {
    @Test("It lies where the package has such things, also when one stands in a folder of it")
    func layout() throws {
        try ScratchPackage.with { package in
            #expect(package.vocabulary == "Sources/App/Vocabulary")
            #expect(package.module == "App")
            let scaffold = try MessageTemplate(MessageName("event.Done")).scaffold(in: package)
            #expect(
                scaffold.files.keys.sorted() == [
                    "Sources/App/Vocabulary/Events.swift", "Tests/AppTests/DoneTests.swift",
                ])
        }
    }

    @Test("What is there is not overwritten, and then nothing else is written either")
    func there() throws {
        try ScratchPackage.with { package in
            try MessageTemplate(MessageName("event.Done")).scaffold(in: package).write(to: package.root)
            let other = try MessageTemplate(MessageName("event.Begun"), fields: [Field("x:Int")]).scaffold(in: package)
            try "".write(toFile: "\(package.root)/Tests/AppTests/BegunTests.swift", atomically: true, encoding: .utf8)
            #expect(throws: ScaffoldError.self) { try other.write(to: package.root) }
            #expect(throws: ScaffoldError.self, "not even told that it would be") { try other.check(in: package.root) }
            #expect(package.text(of: "Sources/App/Vocabulary/Events.swift")?.contains("x: Int") == false)
            #expect(package.text(of: "Tests/AppTests/BegunTests.swift") == "")
            let again = try MessageTemplate(MessageName("event.Done"), fields: [Field("x:Int")])
            let error = #expect(throws: ScaffoldError.self) { try again.scaffold(in: package) }
            #expect(error?.message == "Sources/App/Vocabulary/Events.swift declares DomainEvent.Done already")
        }
    }

    @Test("A service that answers with a message that is there sends it with values for its fields")
    func fields() throws {
        try ScratchPackage.with { package in
            let done = try MessageTemplate(MessageName("event.Done"), fields: Field.list(["x:Int", "y:String?"]))
            try done.scaffold(in: package).write(to: package.root)
            let service = try ServiceTemplate(
                "worker", receives: MessageName("command.Do"), sends: MessageName("event.Done"))
            let scaffold = try service.scaffold(in: package, compose: nil)
            #expect(scaffold.files["Sources/App/Worker.swift"]?.contains("DomainEvent.Done(x: 1)") == true)
            #expect(scaffold.files["Sources/App/Vocabulary/Commands.swift"] != nil, "made on the way")
            #expect(
                scaffold.notes.count == 4,
                "this Package.swift has no list that could be read, nor Segue itself, and there is no stack")
            #expect(scaffold.notes.contains("add the package 'segue' to the dependencies of Package.swift"))
        }
    }

    @Test("A service between events is told one in its test, of however many fields, and its imports are in order")
    func betweenEvents() throws {
        try ScratchPackage.with { package in
            let fields = try Field.list((10..<22).map { "fieldWithALongName\($0):String" })
            for name in ["event.Begun", "event.Done"] {
                try MessageTemplate(MessageName(name), fields: fields).scaffold(in: package).write(to: package.root)
            }
            let service = try ServiceTemplate(
                "worker", receives: MessageName("event.Begun"), sends: MessageName("event.Done"))
            let files = try service.scaffold(in: package, compose: nil).files
            let test = try #require(files["Tests/AppTests/WorkerTests.swift"])
            #expect(test.contains("let message = DomainEvent.Begun(\n"))
            #expect(test.contains("try await stack.bus.publish(message)\n"))
            #expect(files["Sources/App/Worker.swift"]?.contains("        DomainEvent.Done(\n            field") == true)
            for (path, text) in files {
                let lines = text.split(separator: "\n")
                #expect(lines.filter { $0.contains("fieldWith") }.allSatisfy { $0.count <= 100 }, "\(path)")
                let imports = lines.filter { $0.hasPrefix("import") }
                #expect(imports == imports.sorted(), "\(path)")
            }
        }
    }

    @Test(
        "However many fields a message has, its lines are none too long, and a service finds the fields again",
        arguments: [0, 3, 4, 5, 12])
    func manyFields(count: Int) throws {
        try ScratchPackage.with { package in
            let fields = try Field.list((0..<count).map { "fieldWithALongName\($0 + 10):String" })
            let query = try MessageName("query.Everything")
            let scaffold = try MessageTemplate(query, fields: fields, answer: fields).scaffold(in: package)
            for (path, text) in scaffold.files {
                for line in text.split(separator: "\n") { #expect(line.count <= 100, "\(path)") }
            }
            let test = try #require(scaffold.files["Tests/AppTests/EverythingTests.swift"])
            let json = try #require(test.firstMatch(of: #/let json = #"+\s*({[^}]*})\s*"+#/#)?.1)
            let members = fields.map { "\"\($0.name)\":\"some\"" }.joined(separator: ",")
            #expect(json.replacing(#/\\#\n +/#, with: "") == "{\(members)}", "\(test)")
            try scaffold.write(to: package.root)
            #expect(try package.page(declaring: query)?.fields(of: query) == fields)
        }
    }

    @Test(
        "What the platform has already is not made again",
        arguments: [
            "document.NavigationState", "document.Presence", "document.ServiceContract", "event.MessageDiscarded",
            "command.DataDispatched",
        ])
    func ofPlatform(type: String) throws {
        let error = #expect(throws: ScaffoldError.self) { try MessageTemplate(MessageName(type)) }
        #expect(error?.message == "\(type) is one of Segue's own messages")
        _ = try MessageTemplate(MessageName("query.Presence"))
    }

    @Test("A rule may stand on a command that the platform has")
    func ofPlatform() throws {
        try ScratchPackage.with { package in
            let flow = """
                name: a
                version: 1
                platform: ios
                start: b
                screens:
                  b:
                    title: B
                transitions:
                  - on: event.D
                    do: [pop]

                """
            try flow.write(toFile: "\(package.root)/flow.yaml", atomically: true, encoding: .utf8)
            let screen = try ScreenTemplate("c", on: MessageName("command.DataDispatched"))
            let scaffold = try screen.scaffold(in: package, flows: package.flows)
            #expect(scaffold.files.keys.sorted() == ["Tests/AppTests/CScreenTests.swift", "flow.yaml"])

            // The same screen in the flow of a second platform has a test of its own.
            try scaffold.write(to: package.root)
            try flow.replacing("platform: ios", with: "platform: mac-os").write(
                toFile: "\(package.root)/mac.yaml", atomically: true, encoding: .utf8)
            let second = try screen.scaffold(in: package, flows: ["mac.yaml"])
            let path = "Tests/AppTests/CScreenMacOsTests.swift"
            #expect(second.files.keys.sorted() == [path, "mac.yaml"])
            #expect(second.files[path]?.contains("struct CScreenMacOsTests {") == true)
            try second.check(in: package.root)
        }
    }

    @Test("A service is not called as something of the package is")
    func taken() throws {
        try ScratchPackage.with { package in
            try "targets: [\"worker\", .target(name: \"App\")]".write(
                toFile: "\(package.root)/Package.swift", atomically: true, encoding: .utf8)
            let service = try ServiceTemplate(
                "worker", receives: MessageName("command.Do"), sends: MessageName("event.Done"))
            let layout = try PackageLayout(around: package.root)
            #expect(throws: ScaffoldError.self) { try service.scaffold(in: layout, compose: nil) }
        }
    }

    @Test("Outside of a package, or where nobody can tell where messages belong, nothing is guessed")
    func lost() throws {
        #expect(throws: ScaffoldError.self) { try PackageLayout(around: "/") }
        try ScratchPackage.with { package in
            try FileManager.default.removeItem(atPath: "\(package.root)/Sources/App/Vocabulary")
            let error = #expect(throws: ScaffoldError.self) { try PackageLayout(around: package.root) }
            #expect(error?.recovery.contains("--in") == true)
            #expect(try PackageLayout(around: package.root, vocabulary: "Sources/App").module == "App")
            for folder in ["/tmp", "..", "../neighbour-of-this/Sources/App"] {
                let error = #expect(throws: ScaffoldError.self) {
                    try PackageLayout(around: package.root, vocabulary: folder)
                }
                #expect(error?.message.hasSuffix("is not in the package \(package.root)") == true)
            }
        }
    }
}

/// A temporary package with a folder of messages, which is empty.
enum ScratchPackage {
    static func with(_ body: (PackageLayout) throws -> Void) throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let root = scratch.path
        try FileManager.default.createDirectory(
            atPath: "\(root)/Sources/App/Vocabulary", withIntermediateDirectories: true)
        try #"targets: [.target(name: "App"), .testTarget(name: "AppTests")]"#
            .write(toFile: "\(root)/Package.swift", atomically: true, encoding: .utf8)
        try body(PackageLayout(around: "\(root)/Sources/App"))
    }
}
