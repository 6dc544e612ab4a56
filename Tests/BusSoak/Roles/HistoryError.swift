/// A history that cannot be written: nothing that follows could be judged.
struct HistoryError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String { "\(path) cannot be written: \(reason)" }
}
