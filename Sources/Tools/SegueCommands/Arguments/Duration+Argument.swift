internal import ArgumentParser
internal import Compose

extension Duration {
    /// A time above zero, such as `5s`, `500ms` or `1m`; a number alone is seconds.
    /// - Throws: `ValidationError`.
    static func argument(_ text: String) throws -> Duration {
        guard let duration = Duration(compose: text) ?? Duration(compose: "\(text)s"), duration > .zero else {
            throw ValidationError("'\(text)' is no time such as 5s, 500ms or 1m")
        }
        return duration
    }
}
