internal import EventBus
internal import Support

/// A new message: a source file with a struct, and a test of its JSON.
package struct MessageTemplate {
    private let message: MessageName
    private let fields: [Field]
    /// The fields of a query's answer.
    private let answer: [Field]
    private let summary: String

    /// - Parameter summary: What the message is, for the comment above it; nil for a placeholder.
    /// - Throws: ``ScaffoldError`` if a message that is not a query has an answer, or if Segue itself declares the
    ///   message.
    package init(_ shape: MessageShape, answer: [Field] = [], summary: String? = nil) throws(ScaffoldError) {
        let message = shape.message
        guard answer.isEmpty || message.type.kind == .query else {
            throw ScaffoldError(
                .argument, "only a query has an answer, and \(message.type) is not a query",
                recovery: "remove --answer, or write query.\(message.name)")
        }
        guard !message.isOfPlatform else {
            throw ScaffoldError(
                .package, "\(message.type) is one of Segue's own messages",
                recovery: "use it as it is, or choose another name")
        }
        self.message = message
        fields = shape.fields
        self.answer = answer
        self.summary = summary ?? "Describe here \(message.role.meaning)."
    }

    /// The files of the new message.
    package func scaffold(in package: PackageLayout) -> Scaffold {
        var scaffold = Scaffold()
        scaffold.make(package.path(of: message), source(hasInternalImports: package.hasInternalImports))
        scaffold.makeTest("\(message.name)Tests", test(of: package.module), in: package)
        return scaffold
    }

    /// - Parameter hasInternalImports: True if an import without an access level is internal.
    func source(hasInternalImports: Bool) -> String {
        let foundation = (fields + answer).needFoundation ? ["Foundation"] : []
        let answer = message.type.kind == .query ? "\(Self.answerType(self.answer))\n\n" : ""
        return """
            \(Imports.spelled(["Contracts"] + foundation, ["EventBus"], hasInternalImports: hasInternalImports))

            extension \(message.role.namespace) {
                /// \(summary)
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

    /// The properties and the initialiser. Swift's memberwise initialiser would be visible only in its own module.
    private static func members(_ fields: [Field], indent: Int) -> String {
        let properties = fields.map { "package var \($0.swiftName): \($0.type)" }
        let parameters = fields.map { "\($0.swiftName): \($0.type)\($0.json == nil ? " = nil" : "")" }
        let body = fields.map { "    self.\($0.swiftName) = \($0.swiftName)" }
        let head = Wrapping.list(opening: "package init(", elements: parameters, closing: ") {", indent: indent)
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
                @Test("The message is encoded with its type and fields, and decoded unchanged")
                func wire() throws {
                    \(Wrapping.list(opening: "let message = \(message.swift)(", elements: arguments, closing: ")", indent: 8))
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

    /// The JSON of the test's message, as a string literal.
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
