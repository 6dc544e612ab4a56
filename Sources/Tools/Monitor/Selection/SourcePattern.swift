/// Who published: `music-service` for all processes of that name, `music-service/ab*` for some, with wildcards anywhere.
package struct SourcePattern: Hashable, Sendable {
    private let glob: Glob
    private let namesInstance: Bool

    package init(_ text: String) {
        glob = Glob(text)
        namesInstance = text.contains("/")
    }

    package func matches(_ source: String) -> Bool {
        namesInstance ? glob.matches(source) : glob.matches(source.prefix { $0 != "/" })
    }
}
