internal import ArgumentParser

/// Whether to write in colour.
package enum ColorChoice: String, CaseIterable, Sendable, ExpressibleByArgument {
    case auto, always, never
}

extension Console {
    func isColored(_ choice: ColorChoice) -> Bool {
        switch choice {
        case .auto: isColored
        case .always: true
        case .never: false
        }
    }
}
