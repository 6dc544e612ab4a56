import Foundation

/// A page of this repository.
struct Page {
    let text: String

    init(_ path: String) throws {
        text = try String(contentsOfFile: Repository.path(path), encoding: .utf8)
    }

    /// The code blocks in a language, in order.
    func blocks(of language: String) -> [String] {
        text.matches(of: #/(?s)```(\w*)\n(.*?)```/#).filter { $0.1 == language }.map { String($0.2) }
    }
}
