internal import Support

/// A source file with messages: all messages of a kind, or one message.
struct VocabularyPage {
    /// The path relative to the package's folder.
    let path: String
    private let text: String
    private let outline: SwiftOutline

    /// - Throws: ``ScaffoldError`` if the source cannot be parsed.
    init(_ text: String, path: String) throws(ScaffoldError) {
        (self.path, self.text) = (path, text)
        do {
            outline = try SwiftOutline(text)
        } catch {
            throw ScaffoldError(
                .package, "\(path):\(error.line): \(error.reason)", recovery: "correct it, or write the message by hand"
            )
        }
    }

    func declares(_ message: MessageName) -> Bool {
        extensions(for: message).contains { outline.names(in: $0).contains(message.name) }
    }

    /// The fields of a message in this file: the parameters of its initialiser.
    /// - Throws: ``ScaffoldError`` if the message has no initialiser, or if a parameter is not `NAME:TYPE` with a
    ///   supported type.
    func fields(of message: MessageName) throws(ScaffoldError) -> [Field] {
        let declaration = outline.blocks.indices.first { index in
            outline.blocks[index].name == message.name
                && outline.blocks[index].parent.map { extensions(for: message).contains($0) } == true
        }
        let initialiser = #/\binit\(([^)]*)\)/#.byScalar
        guard let declaration, let match = outline.ownCode(of: declaration).firstMatch(of: initialiser) else {
            throw ScaffoldError(
                .package, "\(path): \(message.swift) has no initialiser", recovery: "add an initialiser to the struct")
        }
        var fields: [Field] = []
        for parameter in match.1.split(scalar: ",") {
            let declaration = parameter.split(scalar: "=", maxSplits: 1)[0]
            do throws(ScaffoldError) {
                fields.append(try Field(declaration))
            } catch {
                throw ScaffoldError(
                    .package,
                    """
                    \(path): cannot create an example message: the parameter \
                    '\(declaration.trimmed)' is not NAME:TYPE with a supported type
                    """,
                    recovery: "choose another message, or write the service by hand")
            }
        }
        return fields
    }

    /// The source with the new message at the end of the extension for its kind. All other code stays unchanged.
    /// - Throws: ``ScaffoldError`` if the file has no extension for messages of this kind, or would not declare the
    ///   message after the change.
    func adding(_ template: MessageTemplate) throws(ScaffoldError) -> String {
        let message = template.message
        // An extension that is conditional, or has attributes or requirements, is not meant for all messages.
        let place = extensions(for: message).last { outline.blocks[$0].isPlain && !outline.blocks[$0].isConditional }
        guard let place else {
            throw ScaffoldError(
                .package, "\(path) has no 'extension \(message.role.namespace) {' to add the message to",
                recovery: "add 'extension \(message.role.namespace) {}' to the file")
        }
        let bytes = Array(text.utf8)
        let body = outline.blocks[place].body
        let last = bytes[body].lastIndex { $0 > UInt8(ascii: " ") }
        let added = "\(last == nil ? "" : "\n")\n\(template.declaration(access(in: place)))\n"
        let page =
            String(decoding: bytes[..<(last.map { $0 + 1 } ?? body.lowerBound)], as: UTF8.self)
            + added.replacing(scalars: "\n", with: text.lineEnd)
            + String(decoding: bytes[body.upperBound...], as: UTF8.self)
        guard try VocabularyPage(page, path: path).declares(message) else {
            throw ScaffoldError(
                .package, "\(path) would not declare \(message.swift) after the change",
                recovery: "write the message by hand")
        }
        return page
    }

    /// The access level of a new message: the level of the extension's last message. If the extension has no message,
    /// `package` unless the extension has an access level itself. Empty for a message without an access level.
    private func access(in place: Int) -> String {
        let messages = outline.blocks.filter { $0.parent == place && $0.keyword == "struct" }
        return messages.last?.access ?? (outline.blocks[place].access.isEmpty ? "package" : "")
    }

    private func extensions(for message: MessageName) -> [Int] {
        outline.blocks.indices.filter { index in
            let block = outline.blocks[index]
            return block.keyword == "extension" && block.name == message.role.namespace && block.parent == nil
        }
    }
}
