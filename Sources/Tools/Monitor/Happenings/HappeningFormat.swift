internal import EventBus
internal import Foundation
package import Support

/// Writes happenings for people, usually one line each: the time or the time since the story began, the manner, who,
/// what, and at the end the line of the rule, or the end of the id of a story that begins.
package struct HappeningFormat: Sendable {
    private static let timeWidth = 12
    private static let mannerWidth = 8
    private static let actorWidth = 20

    private let zone: LocalZone
    /// The story of the line before.
    private var story: String?

    /// - Parameter zone: The time zone of the times shown.
    package init(zone: LocalZone = .current) {
        self.zone = zone
    }

    /// The lines of a happening: usually one. Parts that do not fit in the width continue on further lines.
    /// - Parameter columns: The width of the terminal. Nil if it is not known or does not matter.
    package mutating func lines(_ happening: Happening, columns: Int?) -> [StyledText] {
        // A line of another story than the line before needs the id of its story, unless it begins the story.
        let isInterleaved = happening.story != story && !happening.beginsStory
        story = happening.story
        var line = StyledText()
        line.append(Self.right(time(of: happening), Self.timeWidth) + "  ", happening.sinceStart == nil ? nil : .dim)
        line.append(Self.left(happening.kind.manner, Self.mannerWidth), happening.kind.style)
        line.append(Self.left(happening.actor, Self.actorWidth) + " ", .bold)
        if happening.session != Session.default { line.append("@\(happening.session) ", .yellow) }
        if isInterleaved { line.append("\(Self.id(of: happening)) ", .yellow) }
        // It is at the end of the first line, or below if there is no room.
        let showsID = columns != nil && happening.beginsStory && happening.kind != .process
        let end = happening.rule?.printable ?? (showsID ? Self.id(of: happening) : "")
        let room = columns.map { $0 - (end.isEmpty ? 0 : end.columns + 2) } ?? .max
        var folded = StyledText.fold(
            happening.parts, happening.kind == .error ? .red : nil, after: line, room: room,
            indentation: Self.timeWidth + 2 + Self.mannerWidth + Self.actorWidth + 1)
        if !end.isEmpty {
            if folded[0].width > room { folded.append(StyledText()) }
            let index = folded[0].width > room ? folded.count - 1 : 0
            let gap = columns.map { max(2, $0 - folded[index].width - end.columns) } ?? 2
            folded[index].append(String(repeating: " ", count: gap) + end, .dim)
        }
        return folded
    }

    private func time(of happening: Happening) -> String {
        guard let since = happening.sinceStart else { return Timestamp.clock(of: happening.time, in: zone) }
        return since < .zero ? "clock" : "+\(since.sentenceText)"
    }

    private static func id(of happening: Happening) -> String { "#\(happening.shortStory)".printable }

    private static func left(_ text: String, _ width: Int) -> String {
        let shown = text.printable
        return shown + gap(beside: shown, width)
    }

    private static func right(_ text: String, _ width: Int) -> String {
        let shown = text.printable
        return gap(beside: shown, width) + shown
    }

    private static func gap(beside shown: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - shown.columns))
    }
}

extension Happening.Kind {
    fileprivate var style: TextStyle? {
        switch self {
        case .origin: .cyan
        case .service: .green
        case .navigation: .blue
        case .error: .red
        case .banner: .magenta
        case .process: .yellow
        }
    }
}

extension StyledText {
    /// Appends parts to a line, separated by ` · `. A part that does not fit begins a new line.
    fileprivate static func fold(
        _ parts: [String], _ style: TextStyle?, after start: StyledText, room: Int, indentation: Int
    ) -> [StyledText] {
        var lines = [start]
        for (index, part) in parts.enumerated() {
            var next = lines[lines.count - 1]
            if index > 0 { next.append(" · ", .dim) }
            next.append(part, style)
            if index == 0 || next.width <= room {
                lines[lines.count - 1] = next
            } else {
                var line = StyledText()
                line.append(String(repeating: " ", count: indentation))
                line.append(part, style)
                lines.append(line)
            }
        }
        return lines
    }
}
