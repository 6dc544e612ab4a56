internal import Monitor
internal import Support

/// A page of `segue top` that covers the overview, and scrolls.
struct TopPage: Sendable {
    enum Subject: Hashable, Sendable {
        /// The last lines of the log of an instance.
        case log(instance: String)
        /// The newest story, as `segue trace --last` prints it.
        case story
        /// The dead letters, as `segue dead list` prints them.
        case deadLetters
        case keys

        /// The key that opens the page.
        var key: Unicode.Scalar {
            switch self {
            case .log: "l"
            case .story: "s"
            case .deadLetters: "d"
            case .keys: "?"
            }
        }

        fileprivate var title: String {
            switch self {
            case .log(let instance): "LOG OF \(instance)"
            case .story: "NEWEST STORY"
            case .deadLetters: "DEAD LETTERS"
            case .keys: "KEYS"
            }
        }
    }

    let subject: Subject
    /// The content in lines that fit into the terminal. Nil until it has been read.
    private var rows: [StyledText]?
    private var content: [StyledText] = []
    private var columns: Int
    /// The number of lines that the page has for the content.
    private var room: Int
    /// The index of the first visible line. Nil if the page stays at the end of the content.
    private var top: Int?

    init(_ subject: Subject, columns: Int, room: Int) {
        self.subject = subject
        (self.columns, self.room) = (columns, max(1, room - 1))
        // The newest lines of a log are at its end.
        if case .log = subject { top = nil } else { top = 0 }
    }

    /// True if new content at the end becomes visible.
    var followsEnd: Bool { top == nil }

    mutating func set(_ content: [StyledText]) {
        self.content = content
        wrap()
    }

    /// - Parameter room: The number of lines of the page, with its title.
    mutating func resize(columns: Int, room: Int) {
        self.room = max(1, room - 1)
        guard columns != self.columns else { return }
        self.columns = columns
        if rows != nil { wrap() }
    }

    private mutating func wrap() {
        rows = content.flatMap { $0.wrapped(columns: columns) }
    }

    /// Scrolls if the key is one for it.
    mutating func scroll(_ key: KeyPress) {
        switch key {
        case .up: move(-1)
        case .down: move(1)
        case .pageUp: move(-room)
        case .pageDown, .character(" "): move(room)
        case .home: top = 0
        case .end: top = last
        case .escape, .character: break
        }
        // A log whose end is visible follows it.
        if case .log = subject, let top, top >= last { self.top = nil }
    }

    private var last: Int { max(0, (rows ?? []).count - room) }
    private var first: Int { min(top ?? last, last) }

    private mutating func move(_ distance: Int) {
        top = max(0, min(last, first + distance))
    }

    /// The title and the visible lines.
    var lines: [StyledText] {
        let title = StyledText(subject.title, .bold)
        guard let rows else { return [title, StyledText("reading …", .dim)] }
        return [title] + rows[first..<min(rows.count, first + room)]
    }

    /// The numbers of the visible lines: `1–20 of 48`. Nil until the content has been read.
    var position: String? {
        guard let rows, !rows.isEmpty else { return nil }
        return "\(first + 1)–\(min(rows.count, first + room)) of \(rows.count)"
    }
}
