// SPDX-License-Identifier: BSD-2-Clause
package org.pytorch;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A value that a model takes or returns. The to… methods throw {@link IllegalStateException} for a value of another
 * kind. A value may keep the object it was made of, and the to… methods may return that object itself.
 */
public class IValue {
  // Native code uses these numbers, and the fields of this class.
  private static final int TYPE_CODE_NULL = 1;
  private static final int TYPE_CODE_TENSOR = 2;
  private static final int TYPE_CODE_BOOL = 3;
  private static final int TYPE_CODE_LONG = 4;
  private static final int TYPE_CODE_DOUBLE = 5;
  private static final int TYPE_CODE_STRING = 6;
  private static final int TYPE_CODE_TUPLE = 7;
  private static final int TYPE_CODE_BOOL_LIST = 8;
  private static final int TYPE_CODE_LONG_LIST = 9;
  private static final int TYPE_CODE_DOUBLE_LIST = 10;
  private static final int TYPE_CODE_TENSOR_LIST = 11;
  private static final int TYPE_CODE_LIST = 12;
  private static final int TYPE_CODE_DICT_STRING_KEY = 13;
  private static final int TYPE_CODE_DICT_LONG_KEY = 14;
  private static final int TYPE_CODE_OBJECT = 15;

  private static final String[] TYPE_NAMES = {
    "Unknown", "Null", "Tensor", "Bool", "Long", "Double", "String", "Tuple", "BoolList", "LongList", "DoubleList",
    "TensorList", "GenericList", "DictStringKey", "DictLongKey", "Object"
  };

  private final int mTypeCode;
  private final long mNumber; // a bool, a long, the bits of a double, or the handle of an object
  private final Object mData; // the value, if it is not stored in mNumber
  // Type of a list's or dict's elements, if a model returned it; null: the type of the first element is used.
  private final String mType;

  private IValue(int typeCode, long number, Object data, String type) {
    mTypeCode = typeCode;
    mNumber = number;
    mData = data;
    mType = type;
  }

  private IValue(int typeCode, Object data) {
    this(typeCode, 0, data, null);
  }

  public boolean isNull() {
    return mTypeCode == TYPE_CODE_NULL;
  }

  public boolean isTensor() {
    return mTypeCode == TYPE_CODE_TENSOR;
  }

  public boolean isBool() {
    return mTypeCode == TYPE_CODE_BOOL;
  }

  public boolean isLong() {
    return mTypeCode == TYPE_CODE_LONG;
  }

  public boolean isDouble() {
    return mTypeCode == TYPE_CODE_DOUBLE;
  }

  public boolean isString() {
    return mTypeCode == TYPE_CODE_STRING;
  }

  public boolean isTuple() {
    return mTypeCode == TYPE_CODE_TUPLE;
  }

  public boolean isBoolList() {
    return mTypeCode == TYPE_CODE_BOOL_LIST;
  }

  public boolean isLongList() {
    return mTypeCode == TYPE_CODE_LONG_LIST;
  }

  public boolean isDoubleList() {
    return mTypeCode == TYPE_CODE_DOUBLE_LIST;
  }

  public boolean isTensorList() {
    return mTypeCode == TYPE_CODE_TENSOR_LIST;
  }

  public boolean isList() {
    return mTypeCode == TYPE_CODE_LIST;
  }

  public boolean isDictStringKey() {
    return mTypeCode == TYPE_CODE_DICT_STRING_KEY;
  }

  public boolean isDictLongKey() {
    return mTypeCode == TYPE_CODE_DICT_LONG_KEY;
  }

  /**
   * Returns true for a kind that Java has no type for: a TorchScript object or a complex number. Such a value can only
   * be passed back to a model.
   */
  public boolean isObject() {
    return mTypeCode == TYPE_CODE_OBJECT;
  }

  /** Makes None, for an argument of type Optional. */
  public static IValue optionalNull() {
    return new IValue(TYPE_CODE_NULL, null);
  }

  public static IValue from(Tensor tensor) {
    return new IValue(TYPE_CODE_TENSOR, tensor);
  }

  public static IValue from(boolean value) {
    return new IValue(TYPE_CODE_BOOL, value ? 1 : 0, null, null);
  }

  /** Makes an int of TorchScript, which has 64 bits. */
  public static IValue from(long value) {
    return new IValue(TYPE_CODE_LONG, value, null, null);
  }

  /** Makes a float of TorchScript, which has 64 bits. */
  public static IValue from(double value) {
    return new IValue(TYPE_CODE_DOUBLE, Double.doubleToRawLongBits(value), null, null);
  }

  public static IValue from(String value) {
    return new IValue(TYPE_CODE_STRING, value);
  }

  /** Makes a List[bool]. */
  public static IValue listFrom(boolean... list) {
    return new IValue(TYPE_CODE_BOOL_LIST, list);
  }

  /** Makes a List[int]. */
  public static IValue listFrom(long... list) {
    return new IValue(TYPE_CODE_LONG_LIST, list);
  }

  /** Makes a List[float]. */
  public static IValue listFrom(double... list) {
    return new IValue(TYPE_CODE_DOUBLE_LIST, list);
  }

  /** Makes a List[Tensor]. */
  public static IValue listFrom(Tensor... list) {
    return new IValue(TYPE_CODE_TENSOR_LIST, list);
  }

  /** Makes a list of values of one kind. */
  public static IValue listFrom(IValue... array) {
    for (int i = 1; i < array.length; i++) {
      if (array[i].mTypeCode != array[0].mTypeCode) {
        throw new IllegalArgumentException("List must contain items of the same type");
      }
    }
    return new IValue(TYPE_CODE_LIST, array);
  }

  public static IValue tupleFrom(IValue... array) {
    return new IValue(TYPE_CODE_TUPLE, array);
  }

  /** Makes a Dict[str, V]. */
  public static IValue dictStringKeyFrom(Map<String, IValue> map) {
    return new IValue(TYPE_CODE_DICT_STRING_KEY, map);
  }

  /** Makes a Dict[int, V]. */
  public static IValue dictLongKeyFrom(Map<Long, IValue> map) {
    return new IValue(TYPE_CODE_DICT_LONG_KEY, map);
  }

  public Tensor toTensor() {
    return (Tensor) data(TYPE_CODE_TENSOR);
  }

  public boolean toBool() {
    return number(TYPE_CODE_BOOL) != 0;
  }

  public long toLong() {
    return number(TYPE_CODE_LONG);
  }

  public double toDouble() {
    return Double.longBitsToDouble(number(TYPE_CODE_DOUBLE));
  }

  /** Returns the text of a string. {@link #toString} does not: it is the method of Object. */
  public String toStr() {
    return (String) data(TYPE_CODE_STRING);
  }

  public boolean[] toBoolList() {
    return (boolean[]) data(TYPE_CODE_BOOL_LIST);
  }

  public long[] toLongList() {
    return (long[]) data(TYPE_CODE_LONG_LIST);
  }

  public double[] toDoubleList() {
    return (double[]) data(TYPE_CODE_DOUBLE_LIST);
  }

  public Tensor[] toTensorList() {
    return (Tensor[]) data(TYPE_CODE_TENSOR_LIST);
  }

  public IValue[] toList() {
    return (IValue[]) data(TYPE_CODE_LIST);
  }

  public IValue[] toTuple() {
    return (IValue[]) data(TYPE_CODE_TUPLE);
  }

  @SuppressWarnings("unchecked")
  public Map<String, IValue> toDictStringKey() {
    return (Map<String, IValue>) data(TYPE_CODE_DICT_STRING_KEY);
  }

  @SuppressWarnings("unchecked")
  public Map<Long, IValue> toDictLongKey() {
    return (Map<Long, IValue>) data(TYPE_CODE_DICT_LONG_KEY);
  }

  private Object data(int expected) {
    precondition(expected);
    return mData;
  }

  private long number(int expected) {
    precondition(expected);
    return mNumber;
  }

  private void precondition(int expected) {
    if (mTypeCode != expected) {
      throw new IllegalStateException(
          "Expected IValue type " + TYPE_NAMES[expected] + ", actual type " + TYPE_NAMES[mTypeCode]);
    }
  }

  // ---- called by native code

  /** Makes a dict from its keys (String[] or long[]) and values. */
  private static IValue nativeDict(int typeCode, Object keys, IValue[] values, String type) {
    final Map<Object, IValue> map = new LinkedHashMap<Object, IValue>();
    for (int i = 0; i < values.length; i++) {
      map.put(typeCode == TYPE_CODE_DICT_LONG_KEY ? (Object) ((long[]) keys)[i] : ((String[]) keys)[i], values[i]);
    }
    return new IValue(typeCode, 0, map, type);
  }

  /** Returns two arrays: the keys of a dict (String[] or long[]), and its values (IValue[]). */
  private Object[] nativePairs() {
    if (mData == null) {
      throw new NullPointerException("Map of a dict must be not null");
    }
    final Map<?, ?> map = (Map<?, ?>) mData;
    // If another thread changes the map meanwhile, this returns nulls or throws an exception.
    final int size = map.size();
    final IValue[] values = new IValue[size];
    final String[] strings = mTypeCode == TYPE_CODE_DICT_STRING_KEY ? new String[size] : null;
    final long[] longs = strings == null ? new long[size] : null;
    int i = 0;
    for (Map.Entry<?, ?> pair : map.entrySet()) {
      if (i == size) {
        break;
      }
      if (strings != null) {
        strings[i] = (String) pair.getKey();
      } else {
        longs[i] = (Long) pair.getKey();
      }
      values[i++] = (IValue) pair.getValue();
    }
    return new Object[] {strings != null ? strings : longs, values};
  }

  /** Makes an object. It is released when the IValue is unreachable. */
  private static IValue nativeObject(long handle) {
    final IValue value = new IValue(TYPE_CODE_OBJECT, handle, null, null);
    Reclaimer.ofValue(value, handle, 0);
    return value;
  }
}
