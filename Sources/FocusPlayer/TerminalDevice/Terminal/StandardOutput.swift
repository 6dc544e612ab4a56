internal import Dispatch
internal import Foundation

/// Standard output. A terminal may be stopped (Ctrl-S) and a pipe full: whoever writes waits, but no thread of the
/// cooperative pool does.
struct StandardOutput: Sendable {
    private let queue = DispatchQueue(label: "standard-output")

    func write(_ text: String) async {
        await withCheckedContinuation { continuation in
            queue.async {
                // Nobody reads any more: there is nobody to tell.
                try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
                continuation.resume()
            }
        }
    }
}
