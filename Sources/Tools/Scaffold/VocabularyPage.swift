/// A source with messages: the page of all messages of a kind, or the file of one.
struct VocabularyPage {
    /// From the package's folder.
    let path: String
    private let text: String
    private let outline: SwiftOutline

    /// - Throws: ``ScaffoldError`` when it cannot be told where its types begin and end.
    init(_ text: String, path: String) throws(ScaffoldError) {
        (self.path, self.text) = (path, text)
        do {
            outline = try SwiftOutline(text)
        } catch {
            throw ScaffoldError(
                "\(path):\(error.line): \(error.reason)", recovery: "correct it, or write the message by hand")
        }
    }

    func declares(_ message: MessageName) -> Bool {
        extensions(for: message).contains { outline.names(in: $0).contains(message.name) }
    }

    /// The fields of a message that the page declares, as its initialiser takes them.
    /// - Throws: ``ScaffoldError`` when it has none, or one that takes something for which no value can be made up.
    func fields(of message: MessageName) throws(ScaffoldError) -> [Field] {
        let declaration = outline.blocks.indices.first { index in
            outline.blocks[index].name == message.name
                && outline.blocks[index].parent.map { extensions(for: message).contains($0) } == true
        }
        guard let declaration, let match = outline.ownCode(of: declaration).firstMatch(of: #/\binit\(([^)]*)\)/#) else {
            throw ScaffoldError("\(path): \(message.swift) has no initialiser", recovery: "give its struct one")
        }
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
        return fields
    }

    /// The page with one message more, after the last one of its extension. All else stays as it is.
    /// - Throws: ``ScaffoldError`` when it has no extension for such messages.
    func adding(_ template: MessageTemplate) throws(ScaffoldError) -> String {
        let message = template.message
        // What is conditional, or has requirements, is not meant for all messages.
        let place = extensions(for: message).last { outline.blocks[$0].isPlain && !outline.blocks[$0].isConditional }
        guard let place else {
            throw ScaffoldError(
                "\(path) has no 'extension \(message.role.namespace) {' of its own",
                recovery: "write one into it, and close its brace")
        }
        let bytes = Array(text.utf8)
        let body = outline.blocks[place].body
        let last = bytes[body].lastIndex { $0 > UInt8(ascii: " ") }
        let newline = text.contains("\r\n") ? "\r\n" : "\n"
        let added = "\(last == nil ? "" : "\n")\n\(template.declaration(access(in: place)))\n"
        let page =
            String(decoding: bytes[..<(last.map { $0 + 1 } ?? body.lowerBound)], as: UTF8.self)
            + added.replacing("\n", with: newline) + String(decoding: bytes[body.upperBound...], as: UTF8.self)
        guard try VocabularyPage(page, path: path).declares(message) else {
            throw ScaffoldError("\(path) cannot be added to", recovery: "write the message by hand")
        }
        return page
    }

    /// The access of a message beside those of an extension.
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
