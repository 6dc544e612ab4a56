internal import Synchronization

/// Ids of messages: 64 random bits, made once a process, and a count. Unique, as CloudEvents demands of source and id
/// together, and made without a system call.
public enum MessageID {
    private static let process: String = {
        let text = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }()
    private static let count = Atomic<UInt64>(0)

    public static func make() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return process + "-" + String(number, radix: 16)
    }
}
