package import EventBus

/// The data as it was published, each message's on a line of its own.
package struct RawFormat: MessageFormat {
    package init() {}

    package func write(_ message: Envelope, to lines: inout [UInt8]) {
        lines.append(contentsOf: message.data)
        lines.append(UInt8(ascii: "\n"))
    }
}
