internal import Navigation
internal import Support

/// The acknowledgements of findings in a flow file. A comment at the end of a line acknowledges the findings of that
/// line with its code. A comment on a line of its own acknowledges those of the next line that is neither blank nor a
/// comment:
///
///     # check: allow dead-end, the app ends with this screen
///     goodbye:
struct Acknowledgements {
    private struct Acknowledgement {
        let code: String
        let reason: String
        /// The line of the comment, from 1.
        let line: Int
        /// The line of the findings that it acknowledges.
        let target: Int
    }

    private static let mark = "# check: allow "

    private let all: [Acknowledgement]
    private let file: String

    init(in yaml: String, file: String) {
        self.file = file
        let lines = yaml.lines
        all = lines.enumerated().compactMap { index, line in
            guard let (before, text) = line.cut(at: Self.mark) else { return nil }
            let code = text.unicodeScalars.prefix { $0.isASCIILetter || $0 == "-" }
            let reason = Substring(text.unicodeScalars[code.endIndex...]).trimming {
                ",:;".unicodeScalars.contains($0) || $0.properties.isWhitespace
            }
            let target = before.isBlank ? lines[index...].firstIndex { Self.isOfFlow($0) } ?? index : index
            return Acknowledgement(
                code: String(code), reason: String(reason), line: index + 1, target: target + 1)
        }
    }

    /// True if a line is neither blank nor a comment.
    private static func isOfFlow(_ line: Substring) -> Bool {
        line.trimmed.unicodeScalars.first.map { $0 != "#" } ?? false
    }

    /// Leaves out the findings that are acknowledged, and adds a finding for each acknowledgement that has an unknown
    /// code, no reason or no finding to acknowledge.
    ///
    /// - Parameter isUnknown: True for a code of which some findings may not have been looked for, so that it is not known
    ///   whether an acknowledgement is used.
    func applied(to findings: [FlowFinding], isUnknown: (FlowFinding.Code) -> Bool) -> [FlowFinding] {
        if all.isEmpty { return findings }
        var rest = findings
        for acknowledgement in all {
            let former = rest.count
            rest.removeAll { $0.code?.rawValue == acknowledgement.code && $0.line == acknowledgement.target }
            let isUsed =
                rest.count < former || FlowFinding.Code(rawValue: acknowledgement.code).map(isUnknown) ?? false
            if let problem = problem(of: acknowledgement, acknowledges: isUsed) { rest.append(problem) }
        }
        return rest.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
    }

    private func problem(of acknowledgement: Acknowledgement, acknowledges: Bool) -> FlowFinding? {
        let message: String
        if FlowFinding.Code(rawValue: acknowledgement.code) == nil {
            let codes = FlowFinding.Code.allCases.map(\.rawValue)
            message = "no finding has the code '\(acknowledgement.code)'; write one of \(codes.joined(separator: ", "))"
        } else if acknowledgement.reason.isEmpty {
            message = "the acknowledgement of '\(acknowledgement.code)' has no reason; write it after the code"
        } else if !acknowledges {
            message = "line \(acknowledgement.target) has no finding '\(acknowledgement.code)'; remove this comment"
        } else {
            return nil
        }
        return FlowFinding(
            source: file, line: acknowledgement.line, column: 1, severity: .warning, code: .unusedAcknowledgement,
            message: message)
    }
}
