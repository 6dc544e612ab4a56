internal import Navigation

/// A place in a message: `type`, `correlationid`, `data.songs[0].title`, `position.offset`.
package struct MessagePath: Hashable, Sendable {
    package let member: MessageMember
    /// Names and indices.
    let steps: [String]
    private let text: String

    /// - Parameter column: where the path stands in what somebody wrote.
    /// - Throws: ``SyntaxMistake``.
    package init(_ text: String, column: Int = 1) throws(SyntaxMistake) {
        let name = text.prefix { $0 != "." && $0 != "[" }
        guard let member = MessageMember(rawValue: String(name)) else {
            throw SyntaxMistake(Self.advice(on: String(name)), column: column)
        }
        self.member = member
        self.text = text
        steps = try Self.steps(text.dropFirst(name.count), column: column + name.count)
        guard steps.isEmpty || !member.isText else {
            throw SyntaxMistake("'\(name)' is a text: nothing is inside it", column: column + name.count)
        }
    }

    private static func steps(_ text: Substring, column: Int) throws(SyntaxMistake) -> [String] {
        var (rest, steps): (Substring, [String]) = (text, [])
        while let mark = rest.popFirst() {
            let place = column + text.distance(from: text.startIndex, to: rest.startIndex)
            let step = rest.prefix { mark == "[" ? $0.isASCII && $0.isNumber : $0 != "." && $0 != "[" }
            rest = rest.dropFirst(step.count)
            switch mark {
            case "." where !step.isEmpty: steps.append(String(step))
            case ".": throw SyntaxMistake("expected a name after '.'", column: place)
            case "[" where !step.isEmpty && rest.popFirst() == "]": steps.append(String(step))
            case "[": throw SyntaxMistake("expected an index such as [0]", column: place - 1)
            default: throw SyntaxMistake("expected '.' or '[' before '\(mark)'", column: place - 1)
            }
        }
        return steps
    }

    private static func advice(on name: String) -> String {
        let problem = name.isEmpty ? "expected a path such as type or data.url" : "there is no attribute '\(name)'"
        let near = Spelling.nearest(to: name, in: MessageMember.allCases.map(\.rawValue))
        let other = name.isEmpty ? "" : "; what a message carries is in data, as in data.\(name)"
        return problem + (near.map { "; did you mean \($0)?" } ?? other)
    }
}

extension MessagePath: CustomStringConvertible {
    package var description: String { text }
}
