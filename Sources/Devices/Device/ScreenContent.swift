public import EventBus
public import Foundation

/// The content and the actions of a screen, as a terminal, a web page or a native view can draw them.
public struct ScreenContent: Sendable {
    public var title: String
    /// From top to bottom.
    public var sections: [Section]
    /// The index of the first of ``lines`` that a view shows if it has no room for all of them.
    public var firstRow: Int
    /// The actions below the sections that a person can choose, if the flow allows their commands.
    public var actions: [ScreenAction]
    /// True if the content is still being loaded.
    public var isLoading: Bool

    public init(
        title: String, sections: [Section] = [], firstRow: Int = 0, actions: [ScreenAction] = [],
        isLoading: Bool = false
    ) {
        self.title = title
        self.sections = sections
        self.firstRow = firstRow
        self.actions = actions
        self.isLoading = isLoading
    }

    /// Creates a content with one section. It has no section if there are no rows.
    public init(title: String, rows: [Row], actions: [ScreenAction] = [], isLoading: Bool = false) {
        self.init(
            title: title, sections: rows.isEmpty ? [] : [Section(rows: rows)], actions: actions, isLoading: isLoading)
    }

    /// Rows that belong together.
    public struct Section: Sendable {
        /// A text above the rows. Nil for none.
        public var header: String?
        public var rows: [Row]
        /// A text below the rows. Nil for none.
        public var footer: String?
        /// True if each row has its number in front.
        public var isNumbered: Bool

        public init(header: String? = nil, rows: [Row], footer: String? = nil, isNumbered: Bool = false) {
            self.header = header
            self.rows = rows
            self.footer = footer
            self.isNumbered = isNumbered
        }
    }

    /// A row of a list. A row with a command is a choice: a person can select it, if the flow allows the command.
    public struct Row: Sendable, ExpressibleByStringInterpolation {
        public var title: String
        public var subtitle: String?
        /// A short text at the end of the row, such as a number or a state.
        public var detail: String?
        /// A position at the end of the row that moves on with the time. Nil for none.
        public var progress: Progress?
        /// The depth in a tree: 0 for a row that is not inside of another row.
        public var depth: Int
        /// The command that selecting the row sends. Nil if the row cannot be selected.
        public var command: (any CommandMessage)?
        /// True if the row had a command that may not be sent now.
        fileprivate var isDisabled = false

        /// True if the row has a command, or had one that may not be sent now, for example because another screen
        /// covers the row's screen. A view can draw such a row as a disabled button.
        public var isSelectable: Bool { command != nil || isDisabled }

        public init(
            _ title: String, subtitle: String? = nil, detail: String? = nil, progress: Progress? = nil, depth: Int = 0,
            command: (any CommandMessage)? = nil
        ) {
            self.title = title
            self.subtitle = subtitle
            self.detail = detail
            self.progress = progress
            self.depth = depth
            self.command = command
        }

        public init(stringLiteral title: String) {
            self.init(title)
        }

        /// The row on one line: `Calm · anna · 12 songs`. A progress is shown as it is now.
        public var text: String { text(at: Date()) }

        /// The row on one line, with its progress at a time.
        public func text(at time: Date) -> String {
            [title, subtitle, detail, progress?.text(at: time)].compactMap(\.self).joined(separator: " · ")
        }
    }

    /// A position in something that has a duration, such as a song. A view can compute it for any time.
    public struct Progress: Hashable, Sendable {
        /// The position at ``measuredAt``, in milliseconds.
        public var position: Int
        /// The duration in milliseconds. Nil if it is not known.
        public var duration: Int?
        /// The time at which the position was measured, in milliseconds since 1970.
        public var measuredAt: Int
        /// True if the position moves on with the time.
        public var isRunning: Bool

        public init(position: Int, duration: Int?, measuredAt: Int, isRunning: Bool) {
            self.position = position
            self.duration = duration
            self.measuredAt = measuredAt
            self.isRunning = isRunning
        }

        /// The position at a time, and the duration: `1:05 of 4:00`.
        public func text(at time: Date) -> String {
            let text = Self.text(ofMilliseconds: Int(exactly: position(at: time).rounded()) ?? 0)
            return duration.map { "\(text) of \(Self.text(ofMilliseconds: $0))" } ?? text
        }

        /// The time from `time` to the next second of the position. Nil if the position does not move on any more.
        public func timeToNextSecond(at time: Date) -> Duration? {
            let position = position(at: time)
            guard isRunning, position < Double(duration ?? .max) else { return nil }
            let passed = Int(exactly: position.rounded()) ?? 0
            return .milliseconds(1000 - max(0, passed) % 1000)
        }

        /// In milliseconds.
        private func position(at time: Date) -> Double {
            let elapsed = isRunning ? max(0, time.timeIntervalSince1970 * 1000 - Double(measuredAt)) : 0
            return min(Double(position) + elapsed, Double(duration ?? .max))
        }

        /// A time in minutes and seconds: `1:05`.
        public static func text(ofMilliseconds milliseconds: Int) -> String {
            let seconds = max(0, milliseconds) / 1000
            let rest = String(seconds % 60)
            return "\(seconds / 60):\(rest.count < 2 ? "0" : "")\(rest)"
        }
    }

    /// The headers, the rows without a command and the footers as lines of text, for a view without lists. Rows below a
    /// header, and rows inside of other rows, are indented. A progress is shown as it is now.
    public var lines: [String] { lines(at: Date()) }

    /// The lines with the progresses at a time.
    public func lines(at time: Date) -> [String] {
        sections.flatMap { section in
            let base = section.header == nil ? 0 : 1
            let rows = section.rows.enumerated().filter { $0.element.command == nil }.map { index, row in
                String(repeating: "  ", count: base + row.depth) + (section.isNumbered ? "\(index + 1). " : "")
                    + row.text(at: time)
            }
            return [section.header].compactMap(\.self) + rows + [section.footer].compactMap(\.self)
        }
    }

    /// The actions of the rows, labelled with the texts of the rows, then ``actions``.
    public var allActions: [ScreenAction] {
        sections.flatMap(\.rows).compactMap { row in row.command.map { ScreenAction(row.text, $0) } } + actions
    }

    /// Removes the actions that do not fulfil a condition. A row without its command stays as a text, and is
    /// still ``Row/isSelectable``.
    mutating func limitActions(to isAllowed: (ScreenAction) -> Bool) {
        actions.removeAll { !isAllowed($0) }
        for section in sections.indices {
            for row in sections[section].rows.indices {
                guard let command = sections[section].rows[row].command,
                    !isAllowed(ScreenAction(sections[section].rows[row].text, command))
                else { continue }
                sections[section].rows[row].command = nil
                sections[section].rows[row].isDisabled = true
            }
        }
    }
}

/// An action on a screen: its label, and the command that it sends or the query that it asks.
public struct ScreenAction: Sendable {
    /// The importance of an action, by which a view draws it.
    public enum Role: String, Sendable {
        case normal
        /// The action for which the screen is made. A screen should have at most one.
        case primary
        /// An action that takes something away from the person.
        case destructive
        /// An answer that changes nothing.
        case cancel
    }

    enum Content: Sendable {
        case command(any CommandMessage)
        case query(any QueryMessage, about: MessageType)
    }

    public let label: String
    public let role: Role
    let content: Content

    /// Creates an action that sends a command. The screen has it while the flow allows the command.
    public init(_ label: String, _ command: any CommandMessage, role: Role = .normal) {
        self.label = label
        self.role = role
        content = .command(command)
    }

    /// Creates an action that asks a query. The view models find the answer with ``LatestDocuments/answers(to:)``.
    ///
    /// While a query about the document has no answer, the screen is loading and does not have the action. If none
    /// arrives, the view shows the reason, and the action can be chosen again.
    ///
    /// - Parameter document: The document that the answer continues or explains. When a newer document of this type
    ///   arrives, or the document is withdrawn, the answer is forgotten.
    public init(
        _ label: String, asking query: any QueryMessage, about document: any DocumentMessage.Type, role: Role = .normal
    ) {
        self.label = label
        self.role = role
        content = .query(query, about: document.type)
    }

    /// Nil if the action asks a query.
    public var command: (any CommandMessage)? {
        if case .command(let command) = content { command } else { nil }
    }

    /// The message type of the command or query: `command.PlaylistSelected`.
    public var type: MessageType {
        switch content {
        case .command(let command): Swift.type(of: command).type
        case .query(let query, _): Swift.type(of: query).type
        }
    }
}
