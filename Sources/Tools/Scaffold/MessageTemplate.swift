internal import EventBus
internal import Support

/// A new message: a struct in the source file of its kind, and a test of its JSON.
package struct MessageTemplate {
    let message: MessageName
    private let fields: [Field]
    /// The fields of a query's answer.
    private let answer: [Field]

    /// - Throws: ``ScaffoldError`` if a message that is not a query has an answer, or if Segue itself declares the
    ///   message.
    package init(_ message: MessageName, fields: [Field] = [], answer: [Field] = []) throws(ScaffoldError) {
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
        self.fields = fields
        self.answer = answer
    }

    /// The files of the new message.
    /// - Throws: ``ScaffoldError`` if the package already declares the message, or its source file cannot be extended.
    package func scaffold(in package: PackageLayout) throws(ScaffoldError) -> Scaffold {
        var scaffold = Scaffold()
        try add(to: &scaffold, in: package)
        return scaffold
    }

    /// Adds the files of the new message to `scaffold`.
    func add(to scaffold: inout Scaffold, in package: PackageLayout) throws(ScaffoldError) {
        if let page = try package.page(declaring: message) {
            throw ScaffoldError(
                .package, "\(page.path) declares \(message.swift) already", recovery: "choose another name")
        }
        let path = package.path(of: message)
        let isPage = path.ends(with: "/\(message.role.page).swift")
        if isPage, let new = scaffold.files[path] {
            scaffold.replace(path, with: try VocabularyPage(new, path: path).adding(self))
        } else if isPage, package.exists(path) {
            guard let text = package.text(of: path) else {
                throw ScaffoldError(.file, "\(path) cannot be read as UTF-8", recovery: "make it a readable UTF-8 file")
            }
            scaffold.change(path, to: try VocabularyPage(text, path: path).adding(self))
        } else {
            scaffold.make(path, package.spelled(source))
        }
        if package.hasTests {
            scaffold.make("\(package.tests)/\(message.name)Tests.swift", test(of: package.module))
        } else {
            scaffold.note("no test was written: Package.swift has no target \(package.module)Tests")
        }
    }

    /// A source file with only this message.
    var source: String {
        """
        package import Contracts
        internal import EventBus

        extension \(message.role.namespace) {
        \(declaration("package"))
        }

        """
    }

    /// The struct, indented for an extension.
    /// - Parameter access: the access level, such as `public`; empty for a struct without an access level.
    func declaration(_ access: String) -> String {
        let access = access.isEmpty ? "" : "\(access) "
        let answer = message.type.kind == .query ? "\(Self.answerType(self.answer, access))\n\n" : ""
        return """
                /// Describe here \(message.role.hint).
                \(access)struct \(message.name): \(message.role.conformance) {
            \(answer)\(Self.members(fields, access, indent: 8))
                }
            """
    }

    private static func answerType(_ fields: [Field], _ access: String) -> String {
        """
                \(access)struct Answer: Codable, Hashable, Sendable {
        \(members(fields, access, indent: 12))
                }
        """
    }

    /// The properties and the initialiser. Swift's memberwise initialiser would be visible only in its own module.
    private static func members(_ fields: [Field], _ access: String, indent: Int) -> String {
        let properties = fields.map { "\(access)var \($0.swiftName): \($0.type)" }
        let parameters = fields.map { "\($0.swiftName): \($0.type)\($0.json == nil ? " = nil" : "")" }
        let body = fields.map { "    self.\($0.swiftName) = \($0.swiftName)" }
        let head = Wrapping.list("\(access)init(", parameters, ") {", indent: indent)
        let initialiser = body.isEmpty ? ["\(access)init() {}"] : [head] + body + ["}"]
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
                @Test("is encoded with its type and fields, and decoded unchanged")
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
