internal import Support

/// The types and extensions of a Swift source, and the ranges of their bodies. Braces in comments and strings are
/// ignored.
///
/// A source that cannot be parsed with certainty is refused.
struct SwiftOutline {
    /// A type or an extension, with its body in braces.
    struct Block: Hashable {
        /// The keyword, such as `struct` or `extension`.
        let keyword: String
        /// The last part of the name: `Command` for `Contracts.Command`.
        let name: String
        /// The access level, such as `public`; empty if there is none.
        let access: String
        /// True if the declaration has no attribute, no other modifier, no conformance and no requirement.
        let isPlain: Bool
        /// True if the block is inside `#if`.
        let isConditional: Bool
        /// The index of the enclosing block. Nil if there is no enclosing block.
        let parent: Int?
        /// The range of the code between the braces, as byte offsets in the source.
        fileprivate(set) var body: Range<Int>
    }

    /// The reason why a source is refused, such as "a string is not closed", and the number of the line.
    struct Unclear: Error, Hashable {
        let reason: String
        let line: Int
    }

    /// The source, with spaces in place of the content of comments and strings.
    private let code: [UInt8]
    private(set) var blocks: [Block] = []

    /// - Throws: ``Unclear``.
    init(_ source: String) throws(Unclear) {
        var mask = SwiftMask(source)
        code = try mask.masked()
        try findBlocks()
    }

    /// The code of a block, with spaces in place of the bodies of nested types.
    func ownCode(of block: Int) -> String {
        let body = blocks[block].body
        var own = Array(code[body])
        for child in blocks where child.parent == block {
            for index in child.body { own[index - body.lowerBound] = UInt8(ascii: " ") }
        }
        return String(decoding: own, as: UTF8.self)
    }

    /// The names of the types that a block declares directly.
    func names(in block: Int) -> Set<String> {
        Self.names(in: ownCode(of: block))
    }

    /// The names of all types that a source may declare. Includes names in comments and strings.
    static func names(in text: String) -> Set<String> {
        let declaration = #/\b(?:struct|enum|class|actor|protocol|typealias)\s+`?(\w+)/#.byScalar
        return Set(text.matches(of: declaration).map { String($0.1) })
    }

    private mutating func findBlocks() throws(Unclear) {
        // For each open brace, the index of the block that begins there. Nil for a brace that begins no block.
        var open: [Int?] = []
        var conditions = 0
        var header = 0
        for (index, byte) in code.enumerated() {
            switch byte {
            case UInt8(ascii: "#"):
                let word = String(decoding: code[index...].prefix(8), as: UTF8.self)
                if word.begins(with: "#if") { conditions += 1 }
                if word.begins(with: "#endif") { conditions -= 1 }
            case UInt8(ascii: "{"):
                let block = block(
                    String(decoding: code[header..<index], as: UTF8.self), isConditional: conditions > 0,
                    parent: open.compactMap(\.self).last, body: index + 1..<index + 1)
                open.append(block.map { _ in blocks.count })
                if let block { blocks.append(block) }
                header = index + 1
            case UInt8(ascii: "}"):
                guard let closed = open.popLast() else { throw unclear("'}' closes nothing", at: index) }
                if let closed { blocks[closed].body = blocks[closed].body.lowerBound..<index }
                header = index + 1
            case UInt8(ascii: ";"): header = index + 1
            default: break
            }
        }
        guard open.isEmpty else { throw unclear("'{' is not closed", at: code.count) }
    }

    /// The block that begins at a brace. Nil if the brace does not begin the body of a type or extension.
    /// - Parameter header: the code before the brace, from the previous brace or semicolon.
    private func block(_ header: String, isConditional: Bool, parent: Int?, body: Range<Int>) -> Block? {
        let declaration = #/([^\n\r]*)\b(struct|enum|class|actor|protocol|extension)\s+(?:\w+\.)*`?(\w+)`?/#.byScalar
        guard let match = header.matches(of: declaration).last else { return nil }
        let words = match.1.words
        let accesses = ["public", "package", "internal", "fileprivate", "private"]
        let access = words.first { accesses.contains(String($0)) }
        let lineBefore = header[..<match.range.lowerBound].lines.last { !$0.isBlank }
        let isAttributed = lineBefore?.trimmed.removing(prefix: "@") != nil
        let isBare = header[match.range.upperBound...].isBlank
        return Block(
            keyword: String(match.2), name: String(match.3), access: access.map(String.init) ?? "",
            isPlain: words.allSatisfy { $0 == access } && isBare && !isAttributed,
            isConditional: isConditional, parent: parent, body: body)
    }

    private func unclear(_ reason: String, at index: Int) -> Unclear {
        Unclear(reason: reason, line: code[..<index].count { $0 == UInt8(ascii: "\n") } + 1)
    }
}

/// Replaces the content of comments and strings by spaces. Line breaks and byte offsets stay the same.
private struct SwiftMask {
    private var bytes: [UInt8]
    private var index = 0

    init(_ source: String) {
        bytes = Array(source.utf8)
    }

    /// - Throws: ``SwiftOutline/Unclear``.
    mutating func masked() throws(SwiftOutline.Unclear) -> [UInt8] {
        try skipCode(toParenthesis: false)
        return bytes
    }

    /// - Parameter toParenthesis: true to end at the parenthesis that closes an interpolation.
    private mutating func skipCode(toParenthesis: Bool) throws(SwiftOutline.Unclear) {
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "/") where starts("//"):
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { blank() }
            case UInt8(ascii: "/") where starts("/*"): try skipComment()
            case UInt8(ascii: "/") where index + 1 < bytes.count && bytes[index + 1] > UInt8(ascii: " "):
                throw unclear("'/' may begin a regular expression", at: index)
            case UInt8(ascii: "\""): try skipString(hashes: 0)
            case UInt8(ascii: "`"):
                let name = bytes[(index + 1)...].prefix { $0 != UInt8(ascii: "`") }
                guard name.allSatisfy({ Character(Unicode.Scalar($0)).isLetter || $0 == UInt8(ascii: "_") }) else {
                    throw unclear("a name in backticks has other characters than letters and '_'", at: index)
                }
                index += name.count + 2
            case UInt8(ascii: "#"):
                let hashes = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
                let next = index + hashes < bytes.count ? bytes[index + hashes] : 0
                if next == UInt8(ascii: "/") { throw unclear("a regular expression begins", at: index) }
                if next == UInt8(ascii: "\"") { try skipString(hashes: hashes) } else { index += hashes }
            case UInt8(ascii: "("):
                depth += 1
                index += 1
            case UInt8(ascii: ")"):
                depth -= 1
                index += 1
                if toParenthesis, depth < 0 { return }
            default: index += 1
            }
        }
        if toParenthesis { throw unclear("a string is not closed", at: bytes.count) }
    }

    /// Skips a block comment, with the comments nested in it.
    private mutating func skipComment() throws(SwiftOutline.Unclear) {
        let start = index
        var depth = 0
        repeat {
            guard index < bytes.count else { throw unclear("a comment is not closed", at: start) }
            depth += starts("/*") ? 1 : starts("*/") ? -1 : 0
            if starts("/*") || starts("*/") { blank() }
            blank()
        } while depth > 0
    }

    private mutating func skipString(hashes: Int) throws(SwiftOutline.Unclear) {
        let start = index
        let marks = String(repeating: "#", count: hashes)
        index += hashes
        let line = bytes[index...].prefix { $0 != UInt8(ascii: "\n") }
        // A raw string on one line may begin with quotation marks: `#"""#` is a string with one quotation mark.
        let isLong = starts(#"""""#) && (hashes == 0 || line.dropFirst(3).allSatisfy { $0 <= UInt8(ascii: " ") })
        let quote = isLong ? #"""""# : #"""#
        index += quote.utf8.count
        while !starts(quote + marks) {
            guard index < bytes.count, isLong || bytes[index] != UInt8(ascii: "\n") else {
                throw unclear("a string is not closed", at: start)
            }
            if starts("\\\(marks)(") {
                let interpolation = index
                index += hashes + 2
                try skipCode(toParenthesis: true)
                let end = index
                index = interpolation
                while index < end { blank() }
            } else if starts("\\\(marks)") {
                for _ in 0..<hashes + 2 where index < bytes.count { blank() }
            } else {
                blank()
            }
        }
        index += quote.utf8.count + hashes
    }

    private func starts(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    private mutating func blank() {
        if bytes[index] != UInt8(ascii: "\n"), bytes[index] != UInt8(ascii: "\r") { bytes[index] = UInt8(ascii: " ") }
        index += 1
    }

    private func unclear(_ reason: String, at index: Int) -> SwiftOutline.Unclear {
        SwiftOutline.Unclear(reason: reason, line: bytes[..<index].count { $0 == UInt8(ascii: "\n") } + 1)
    }
}
