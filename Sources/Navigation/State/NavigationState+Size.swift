// Every snapshot is one message of the bus, of 4 MiB at most. It holds the screens' arguments, once more in its URL, where a
// byte may take three; the texts of alerts; and what waits for a guard's answer, about 1 MiB at most.

extension ScreenInstance {
    /// The most that the arguments of one screen may take, in bytes of JSON.
    static let argumentLimit = 64 * 1024

    /// The bytes of the arguments as JSON; 0 for none.
    var argumentSize: Int { arguments.isEmpty ? 0 : JSONValue.object(arguments).description.utf8.count }
}

extension NavigationState {
    /// The most that the arguments of all screens may take, and the texts of alerts with them, in bytes of JSON.
    static let contentLimit = 512 * 1024

    /// Whether it holds too much to be published. One of an older version may, and must not keep its screens for ever: it
    /// may shrink.
    func isTooLarge(from former: NavigationState) -> Bool {
        let size = contentSize
        return size > Self.contentLimit && size > former.contentSize
    }

    /// The bytes that count towards ``contentLimit``. A screen that is leaving counts as well: the snapshot has it.
    var contentSize: Int {
        let arguments = standing.reduce(0) { $0 + $1.argumentSize } + leaving.reduce(0) { $0 + $1.argumentSize }
        return presentations.reduce(arguments) { size, presentation in
            let texts = [presentation.options.title, presentation.options.message].compactMap(\.self)
            return size + texts.reduce(0) { $0 + JSONValue.string($1).description.utf8.count }
        }
    }
}
