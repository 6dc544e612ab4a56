internal import EventBus

/// A message: one struct, and a test of how it is on the wire.
package struct MessageTemplate {
    private let message: MessageName
    private let fields: [Field]
    /// What a query is answered with.
    private let answer: [Field]

    /// - Throws: ``ScaffoldError`` when what is no query has an answer, and when the platform has such a message.
    package init(_ message: MessageName, fields: [Field] = [], answer: [Field] = []) throws(ScaffoldError) {
        guard answer.isEmpty || message.type.kind == .query else {
            throw ScaffoldError("\(message.type) is not answered", recovery: "leave --answer out, or make it a query")
        }
        guard !message.isOfPlatform else {
            throw ScaffoldError(
                "\(message.type) is one of the platform's own messages",
                recovery: "choose another name; that one is there without being made")
        }
        self.message = message
        self.fields = fields
        self.answer = answer
    }

    package func scaffold(in package: PackageLayout) -> Scaffold {
        var scaffold = Scaffold()
        scaffold.make("\(package.folder(of: message))/\(message.name).swift", package.spelled(source))
        if package.hasTests {
            scaffold.make("\(package.tests)/\(message.name)Tests.swift", test(of: package.module))
        } else {
            scaffold.note("no test was written: Package.swift has no target \(package.module)Tests")
        }
        return scaffold
    }

    var source: String {
        let answer = message.type.kind == .query ? "\(Self.answerType(self.answer))\n\n" : ""
        return """
            package import Contracts
            internal import EventBus

            extension \(message.role.namespace) {
                /// Say here \(message.role.hint).
                package struct \(message.name): \(message.role.conformance) {
            \(answer)\(Self.members(fields, indent: 8))
                }
            }

            """
    }

    private static func answerType(_ fields: [Field]) -> String {
        """
                package struct Answer: Codable, Hashable, Sendable {
        \(members(fields, indent: 12))
                }
        """
    }

    /// The properties, and the initialiser that a package's struct does not get by itself.
    private static func members(_ fields: [Field], indent: Int) -> String {
        let properties = fields.map { "package var \($0.swiftName): \($0.type)" }
        let parameters = fields.map { "\($0.swiftName): \($0.type)\($0.json == nil ? " = nil" : "")" }
        let body = fields.map { "    self.\($0.swiftName) = \($0.swiftName)" }
        let head = Wrapping.list("package init(", parameters, ") {", indent: indent)
        let initialiser = body.isEmpty ? ["package init() {}"] : [head] + body + ["}"]
        let lines = properties + (properties.isEmpty ? [] : [""]) + initialiser
        return lines.map { $0.indented(by: indent) }.joined(separator: "\n")
    }

    private func test(of module: String) -> String {
        let arguments = fields.map { "\($0.name): \($0.sample)" }
        return """
            import Contracts
            import EventBus
            import Foundation
            import Testing

            @testable import \(module)

            @Suite("\(message.type)")
            struct \(message.name)Tests {
                @Test("goes over the wire under its own name, with its fields, and comes back as it went")
                func wire() throws {
                    \(Wrapping.list("let message = \(message.swift)(", arguments, ")", indent: 8))
                    let sent = try Envelope(message, source: "test")
                    #expect(sent.type.description == "\(message.type)")
                    let json = \(json(indent: 12))
                    #expect(String(decoding: sent.data, as: UTF8.self) == json)
                    let received = try Envelope(sent.decode(\(message.swift).self), source: "test")
                    #expect(received.data == sent.data)
                }
            }

            """
    }

    /// What a test's message is on the wire, as a literal.
    private func json(indent: Int) -> String {
        let members = fields.sorted { $0.name < $1.name }.compactMap { field in
            field.json.map { "\"\(field.name)\":\($0)" }
        }
        let line = "#\"{\(members.joined(separator: ","))}\"#"
        if indent + line.count + "let json = ".count <= Wrapping.limit { return line }
        let lines = Wrapping.filled(members, separator: ",", width: Wrapping.limit - indent - 4)
        let margin = "\n" + String(repeating: " ", count: indent)
        return "#\"\"\"\(margin){\(lines.joined(separator: "\\#\(margin)"))}\(margin)\"\"\"#"
    }
}

/// A message that a package declares, as far as its source tells.
struct MessageSource {
    let message: MessageName
    let fields: [Field]

    /// Looks through the package's vocabulary.
    ///
    /// - Returns: `nil` when it has no file of that name.
    /// - Throws: ``ScaffoldError`` when there is one whose initialiser cannot be read.
    init?(_ message: MessageName, in package: PackageLayout) throws(ScaffoldError) {
        let path = "\(package.folder(of: message))/\(message.name).swift"
        guard let text = package.text(of: path) else { return nil }
        guard let match = text.firstMatch(of: #/init\(([^)]*)\)/#) else {
            throw ScaffoldError(
                "\(path) has no initialiser", recovery: "give its struct one")
        }
        self.message = message
        var fields: [Field] = []
        for parameter in match.1.split(separator: ",") {
            let declaration = parameter.split(separator: "=", maxSplits: 1)[0]
            do throws(ScaffoldError) {
                fields.append(try Field(declaration))
            } catch {
                throw ScaffoldError(
                    "\(path): a value for '\(declaration.trimming(while: \.isWhitespace))' cannot be made up",
                    recovery: "choose another message, and write this service by hand")
            }
        }
        self.fields = fields
    }

    /// An expression with a value of it, in Swift.
    /// - Parameter indent: of its first line.
    static func sample(
        of message: MessageName, _ fields: [Field] = [], from start: String = "", indent: Int
    ) -> String {
        let arguments = fields.filter { $0.json != nil }.map { "\($0.name): \($0.sample)" }
        return Wrapping.list("\(start)\(message.swift)(", arguments, ")", indent: indent)
    }
}
