/// A piece of a frame: messages are cut out of the frame that brought them without being copied.
package typealias Bytes = ArraySlice<UInt8>
