package import BusChecker
internal import Foundation

extension Arena {
    /// What a process has logged so far.
    package func log(of name: String) -> String {
        (try? String(contentsOfFile: "\(directory)/\(name).log", encoding: .utf8)) ?? ""
    }

    /// What a process has written down so far.
    package func history(of name: String) -> [HistoryLine] {
        let text = (try? String(contentsOfFile: historyPath(of: name), encoding: .utf8)) ?? ""
        // A last line without its end may be half of one, and still look whole.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { HistoryLine($0) }
    }

    /// What a subscriber has got so far, of the journal of the moment.
    package func deliveries(to name: String) -> [Delivery] {
        let lines = history(of: name)
        return lines.suffix(from: lines.lastIndex(of: .live) ?? 0).compactMap { line in
            if case .delivered(let delivery) = line { delivery } else { nil }
        }
    }

    /// The values of a publisher that the bus has promised to keep.
    package func acknowledged(by name: String) -> Set<Value> {
        var history = History()
        history.add(self.history(of: name))
        return history.acknowledged
    }

    package func counts(of name: String) async -> Counts {
        await progress.current()[name] ?? Counts()
    }
}
