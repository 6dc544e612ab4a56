import Foundation
import Testing

@testable import Scaffold

@Suite("A page of messages that a person has written")
struct VocabularyPageTests {
    /// A source with braces, quotation marks and declarations in comments and strings.
    private static let commands = ##"""
        package import Contracts
        internal import EventBus
        import struct Foundation.URL

        // extension Command { struct Hidden {}
        /* A comment /* in a comment } */ { */

        extension Command {
            /// Says "}" and 'extension Command {'.
            public struct Ordered: CommandMessage {
                public static let text = "} \(["{"].map { "\($0) }" }.joined()) \" {"
                public static let long = """
                    " } ""\" {
                    """
                public static let raw = #"\#(1) \( } " {"#
                public static let quotes = #"""} { "" "#
                public var kind: String

                public init(kind: String = "a)") {
                    self.kind = kind
                }
            }

            public typealias Wanted = Ordered
            // The last one, for now: }
        }

        #if DEBUG
            extension Command {
                public struct Tried: CommandMessage {}
            }
        #endif

        extension Command.Ordered {
            struct Note { let ratio = 1 / 2 }
        }

        extension [Command] where Element: Sendable {}

        """##

    private func page(_ text: String, _ path: String = "Commands.swift") throws -> VocabularyPage {
        try VocabularyPage(text, path: path)
    }

    private func message(_ name: String, _ fields: String...) throws -> MessageTemplate {
        try MessageTemplate(MessageName(name), fields: Field.list(fields))
    }

    @Test("gets the new one behind its last one, declared as that is, and stays as it is otherwise")
    func added() throws {
        let place = "    // The last one, for now: }\n"
        let added = """

                /// Describe here the action that the user requests.
                public struct Paid: CommandMessage {
                    public var cents: Int

                    public init(cents: Int) {
                        self.cents = cents
                    }
                }

            """
        let parts = Self.commands.split(separator: place)
        try #require(parts.count == 2)
        let result = try page(Self.commands).adding(message("command.Paid", "cents:Int"))
        #expect(result == "\(parts[0])\(place)\(added)\(parts[1])")
        #expect(try page(result).fields(of: MessageName("command.Paid")) == [Field("cents:Int")])
        #expect(try page(result).fields(of: MessageName("command.Ordered")) == [Field("kind:String")])
    }

    @Test(
        "knows its messages from what only looks like one",
        arguments: [
            ("Ordered", true), ("Wanted", true), ("Tried", true), ("Hidden", false), ("Note", false), ("URL", false),
        ])
    func declared(name: String, isThere: Bool) throws {
        #expect(try page(Self.commands).declares(MessageName("command.\(name)")) == isThere)
        #expect(try !page(Self.commands).declares(MessageName("event.\(name)")))
    }

    @Test(
        "is added to, however empty its extension is",
        arguments: ["extension Command {}", "extension Command {\n}\n", "extension Contracts.Command { // None.\n}"])
    func empty(text: String) throws {
        let result = try page(text).adding(message("command.Paid"))
        #expect(try page(result).declares(MessageName("command.Paid")))
        #expect(result.contains("\n    package struct Paid: CommandMessage {\n        package init() {}\n    }\n}"))
        #expect(text.contains("//") == result.contains(" // None.\n\n    /// Describe"))
    }

    @Test("keeps the ends of its lines, and the access that its extension has")
    func spelled() throws {
        let text = "package extension Command {\r\n    struct A: CommandMessage {}\r\n}\r\n"
        let result = try page(text).adding(message("command.B"))
        #expect(result.hasPrefix("package extension Command {\r\n    struct A: CommandMessage {}\r\n\r\n    ///"))
        #expect(result.hasSuffix("    struct B: CommandMessage {\r\n        init() {}\r\n    }\r\n}\r\n"))
    }

    @Test(
        "is left alone when it cannot be told for certain where its types end, and the line says where",
        arguments: [
            ("extension Command {\n", "2: '{' is not closed"), ("}\n", "1: '}' closes nothing"),
            ("extension Command { let a = \"}\n}", "1: a string is not closed"),
            ("\nextension Command { /* }", "2: a comment is not closed"),
            ("let a = \"\"\"\n{", "1: a string is not closed"), ("let a = \"\\(\"", "1: a string is not closed"),
            ("let a = /{/", "1: '/' may begin a regular expression"),
            ("let a = #/{/#", "1: a regular expression begins"),
            ("func `a { b`() {}", "1: a name in backticks has other characters than letters and '_'"),
        ])
    func unclear(text: String, problem: String) {
        let error = #expect(throws: ScaffoldError.self) { try page(text) }
        #expect(error?.message == "Commands.swift:\(problem)")
        #expect(error?.recovery == "correct it, or write the message by hand")
    }

    @Test(
        "is left alone when it has no extension that is meant for all messages of its kind",
        arguments: [
            "import Contracts\n", "enum Command {}", "extension Command: Sendable {}", "extension DomainEvent {}",
            "@available(macOS 20, *)\nextension Command {}", "#if DEBUG\nextension Command {}\n#endif",
            "enum A { extension Command {} }",
        ])
    func noExtension(text: String) throws {
        let error = #expect(throws: ScaffoldError.self) { try page(text).adding(message("command.Paid")) }
        #expect(error?.message == "Commands.swift has no 'extension Command {' to add the message to")
    }

    @Test("is made when there is none, and then has what comes next, in the order it came in")
    func made() throws {
        try ScratchPackage.with { package in
            let service = try ServiceTemplate(
                "worker", receives: MessageName("event.Begun"), sends: MessageName("event.Done"))
            let scaffold = try service.scaffold(in: package, compose: nil)
            try scaffold.write(to: package.root)
            for name in ["event.Rested", "document.State", "query.Answered"] {
                try message(name).scaffold(in: package).write(to: package.root)
            }
            let events = try #require(package.text(of: "Sources/App/Vocabulary/Events.swift"))
            #expect(events.matches(of: #/struct (\w+): EventMessage/#).map(\.1) == ["Begun", "Done", "Rested"])
            #expect(events.matches(of: #/import |extension /#).count == 3)
            let folder = try FileManager.default.contentsOfDirectory(atPath: "\(package.root)/Sources/App/Vocabulary")
            #expect(folder.sorted() == ["Documents.swift", "Events.swift", "Queries.swift"])
        }
    }

    @Test("is not made where each message has a file of its own")
    func files() throws {
        try ScratchPackage.with { package in
            let vocabulary = "Sources/App/Vocabulary"
            let page = try message("command.Ordered").source
            try page.write(toFile: "\(package.root)/\(vocabulary)/Ordered.swift", atomically: true, encoding: .utf8)
            #expect(try message("command.Paid").scaffold(in: package).files["\(vocabulary)/Paid.swift"] != nil)
            let again = #expect(throws: ScaffoldError.self) { try message("command.Ordered").scaffold(in: package) }
            #expect(again?.message == "\(vocabulary)/Ordered.swift declares Command.Ordered already")
            try FileManager.default.createDirectory(
                atPath: "\(package.root)/\(vocabulary)/Events", withIntermediateDirectories: true)
            #expect(try message("event.Done").scaffold(in: package).files["\(vocabulary)/Events/Done.swift"] != nil)
        }
    }

    @Test("that no person could read either is named, and nothing is written")
    func notText() throws {
        try ScratchPackage.with { package in
            let path = "Sources/App/Vocabulary/Events.swift"
            try Data([0xFF, 0xFE]).write(to: URL(filePath: "\(package.root)/\(path)"))
            let error = #expect(throws: ScaffoldError.self) { try message("event.Done").scaffold(in: package) }
            #expect(error?.message == "\(path) cannot be read as UTF-8")
        }
    }
}
