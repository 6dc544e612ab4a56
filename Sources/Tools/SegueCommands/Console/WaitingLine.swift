/// Lines for a person, below them one that says what is waited for.
///
/// On a terminal that one is written over; elsewhere it is told once, at the beginning.
actor WaitingLine {
    private static let erased = "\r" + TerminalCode.clearLine

    private let console: Console
    private var text: String?

    init(_ console: Console) {
        self.console = console
    }

    func wait(_ text: String) async {
        if console.isTerminal {
            // One that took more than a row could not be written over.
            let row = String(text.prefix((console.columns ?? 80) - 1))
            self.text = row
            try? await console.write(Self.erased + row)
        } else if self.text == nil {
            self.text = text
            await console.tell(text)
        }
    }

    /// - Parameter isOwn: whether it is this program that says so, and not a service.
    func tell(_ line: String, isOwn: Bool = true) async {
        guard console.isTerminal, let text else {
            return isOwn ? await console.tell(line) : await write(line + "\n")
        }
        await write(Self.erased + (isOwn ? "segue: " : "") + line + "\n" + text)
    }

    /// What is waited for has come, or never will.
    func end() async {
        if console.isTerminal, text != nil { await write(Self.erased) }
        text = nil
    }

    /// That nobody reads it is no reason to fail.
    private func write(_ text: String) async {
        try? await console.write(text)
    }
}
